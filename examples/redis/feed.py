#!/usr/bin/env python3
"""A feed that shows no user the same article twice, with redis-py.

usage: feed.py [SOCKET]     (a unix socket; without, the server on localhost)
"""

import sys

import redis

client = redis.Redis(unix_socket_path=sys.argv[1]) if len(sys.argv) > 1 else redis.Redis()
shown = client.bf()


def feed(user, articles):
    """The articles that the user has not seen yet; marks them as seen."""
    key = f"shown:{user}"
    # One filter per user, which grows with what they read.
    client.execute_command("BF.RESERVE", key, 0.01, 100, "IFNOTEXISTS")
    return [article for article, new in zip(articles, shown.madd(key, *articles)) if new]


print(feed("ada", ["a1", "a2", "a3"]))
print(feed("ada", ["a2", "a3", "a4"]))
