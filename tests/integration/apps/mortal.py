# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Ends with code 7 while the file MORTAL_IF exists: in its first request
("request"), some time after the request has begun ("later"), when it has closed
the connection ("close"), or after it has said so on $NOTIFY_SOCKET
("stopping"). Or it lives, but listens no more ("deaf"), or ends with its
response: its pid ("served"), status 500 ("sorry"), the path of a file
("elsewhere", over SCGI) or an upgrade ("upgrade"). Otherwise it responds with
its pid. With MORTAL_THREADS it takes any number of requests at a time."""
import os
import socket
import threading
import time

HOW = os.environ["MORTAL"]
listener = socket.socket(fileno=3)
RESPONDS = "served", "sorry", "elsewhere", "upgrade"


def end():
    os.write(1, b"I am mortal\n")
    os._exit(7)


def end_later():
    time.sleep(0.03)
    end()


def say_that_it_stops():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"STOPPING=1", os.environ["NOTIFY_SOCKET"])


def die(client):
    if HOW == "request":
        end()
    if HOW == "later":
        threading.Thread(target=end_later).start()
        time.sleep(60)
    if HOW == "stopping":
        say_that_it_stops()
    if HOW == "deaf":
        os.write(1, b"I am mortal\n")
        listener.close()
    client.close()
    if HOW == "deaf":
        time.sleep(60)
    end_later()


def response(head):
    if HOW == "elsewhere":
        return b"Location: /file\r\n\r\n"
    if HOW == "upgrade":
        return b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" \
            b"Upgrade: chatter/1\r\n\r\n"
    status = b"Status:" if b"SCGI" in head else b"HTTP/1.1"
    status += b" 500 sorry" if HOW == "sorry" else b" 200 OK"
    body = str(os.getpid()).encode()
    return status + b"\r\nConnection: close\r\n" \
        b"Content-Length: %d\r\n\r\n" % len(body) + body


def serve(client):
    with client:
        head = client.recv(65536)
        if not head:
            return  # a probe has checked whether we listen
        is_mortal = os.path.exists(os.environ["MORTAL_IF"])
        if is_mortal and HOW not in RESPONDS:
            die(client)
        client.sendall(response(head))
        if is_mortal:
            end()


def main():
    while True:
        client = listener.accept()[0]
        if "MORTAL_THREADS" in os.environ:
            threading.Thread(target=serve, args=(client,)).start()
        else:
            serve(client)


main()
