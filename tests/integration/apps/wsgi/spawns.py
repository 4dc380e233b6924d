# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that computes in processes of multiprocessing. /fork, /spawn,
/forkserver"""
import concurrent.futures
import multiprocessing


def square(number):
    return number * number


def application(environ, start_response):
    context = multiprocessing.get_context(environ["PATH_INFO"][1:])
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        text = str(list(pool.map(square, range(3))))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text.encode()]
