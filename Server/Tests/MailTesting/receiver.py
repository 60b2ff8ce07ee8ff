"""A mail server of a test (aiosmtpd) that receives mail, or misbehaves as one of its options says.

It writes its port, and then each mail that it accepted, as a line of JSON. It ends with its standard input.
"""

import argparse
import asyncio
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

BEHAVIOURS = (
    "accept",
    "slow",
    "late",
    "refuse",
    "refuse-sender",
    "refuse-message",
    "postpone",
    "cut",
    "greylist",
)


class Receiver:
    """Answers the commands MAIL, RCPT and DATA."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.attempts = 0

    async def handle_MAIL(self, server, session, envelope, address, options):
        if self.behaviour == "refuse-sender":
            return f"550 5.7.1 <{address}>: not a sender of yours"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.attempts += 1
        if self.behaviour == "refuse":
            return f"550 5.1.1 <{address}>: no such mailbox"
        if self.behaviour == "postpone" or (self.behaviour == "greylist" and self.attempts == 1):
            return "451 4.7.1 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.behaviour == "slow":
            await asyncio.sleep(600)
        if self.behaviour == "late":
            await asyncio.sleep(4)
        if self.behaviour == "refuse-message":
            return "554 5.6.0 this is spam"
        if self.behaviour == "cut":
            server.transport.abort()
            return "250 OK"
        report(
            {
                **parsed(envelope.content),
                "envelopeSender": envelope.mail_from,
                "envelopeRecipients": envelope.rcpt_tos,
                "isEncrypted": server.transport.get_extra_info("sslcontext") is not None,
                "login": session.auth_data.decode() if session.authenticated else None,
            }
        )
        return "250 OK"


def parsed(content):
    """What a mail program shows of a message."""
    message = email.message_from_bytes(content, policy=email.policy.default)
    plain, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    return {
        "bytes": content.decode("ascii"),
        "fields": message.keys(),
        "messageID": message["message-id"],
        "date": message["date"],
        "from": message["from"],
        "to": message["to"],
        "subject": message["subject"],
        "language": message["content-language"],
        "isAutomatic": message["auto-submitted"] == "auto-generated",
        "plain": plain.get_content(),
        "html": html.get_content(),
        "defects": [str(defect) for part in message.walk() for defect in part.defects],
    }


def report(value):
    print(json.dumps(value), flush=True)


def authenticator(login):
    def check(server, session, envelope, mechanism, data):
        success = f"{data.login.decode()}:{data.password.decode()}" == login
        return AuthResult(success=success, handled=success, auth_data=data.login)

    return check


async def serve(arguments):
    loop = asyncio.get_running_loop()
    context = None
    if arguments.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(arguments.certificate, arguments.key)
    receiver = Receiver(arguments.behaviour)
    start_tls = context if arguments.tls == "start" else None

    def protocol():
        options = {}
        if arguments.login:
            options = {
                "authenticator": authenticator(arguments.login),
                "auth_required": True,
                "auth_require_tls": start_tls is not None,
            }
        return SMTP(receiver, hostname="mail.test", tls_context=start_tls, loop=loop, **options)

    server = await loop.create_server(
        protocol, "127.0.0.1", arguments.port, ssl=context if arguments.tls == "implicit" else None
    )
    report(server.sockets[0].getsockname()[1])
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


parser = argparse.ArgumentParser()
parser.add_argument("--behaviour", choices=BEHAVIOURS, default="accept")
parser.add_argument("--tls", choices=("none", "start", "implicit"), default="none")
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--login")
parser.add_argument("--port", type=int, default=0)
asyncio.run(serve(parser.parse_args()))
