"""TLS from files that change while we serve: a renewed certificate needs no restart.

A server, here with the pair of files that a mounted Secret has:

    certificates = Certificates(service)                       # once in a process
    async with certificates.serving("webhook", Files.pair(folder)) as context:
        await web.SockSite(runner, socket, ssl_context=context).start()

`Files.mutual(folder)` lets in only clients whose certificate is signed under the folder's ca.crt.

A client of such a server asks for the newest context at each new connection:

    async with certificates.calling("demand stream", Files.mutual(folder)) as newest:
        await session.get(url, ssl=newest())                   # RetryLater while there is none

Files may come late, be half-written or be wrong: what served before goes on serving, and log,
metrics and (for servers) readiness tell of it. As a setting: `tls_folder: TlsFolder = None`.
"""

from growth.service.tls.certificates import Certificates
from growth.service.tls.files import Files, TlsFolder

__all__ = ["Certificates", "Files", "TlsFolder"]
