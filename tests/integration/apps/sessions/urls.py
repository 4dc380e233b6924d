# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A project of Django: who is logged in is in the session."""
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt


def home(request):
    count = request.session["count"] = request.session.get("count", 0) + 1
    name = request.session.get("name", "stranger")
    return HttpResponse(f"Hello, {name}, {count}")


@csrf_exempt
def login(request):
    request.session["name"] = request.POST["name"]
    return HttpResponse("welcome")


urlpatterns = [path("", home), path("login", login)]
