"""What the tests of the module expect of a reply."""

from server import ReplyError, quietly


def expect(what, said, wanted):
    if said != wanted:
        raise AssertionError(f"{what}: {str(said)[:300]!r}, not {str(wanted)[:300]!r}")


def refused(server, *words):
    """The text of the error with which the server refuses a command."""
    try:
        said = server.ask(*words)
    except ReplyError as error:
        return str(error)
    raise AssertionError(f"{words}: {said!r}, but it should be refused")


def says(server, start, *words):
    """The reply to a command, an error or not, begins with this."""
    said = quietly(server, *words)
    said = said.decode("latin-1") if isinstance(said, bytes) else str(said)
    expect(f"{str(words[:3])[:60]}", said[:len(start)], start)
