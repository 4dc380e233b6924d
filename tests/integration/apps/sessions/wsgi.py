# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application of Flask: who is logged in is in the session."""
from flask import Flask, request, session

app = application = Flask(__name__)

# RECIPE


@app.post("/login")
def login():
    session["name"] = request.form["name"]
    return "welcome"


@app.get("/")
def home():
    session["count"] = session.get("count", 0) + 1
    return f"Hello, {session.get('name', 'stranger')}, {session['count']}"
