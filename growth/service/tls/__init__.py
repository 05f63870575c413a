"""TLS with files that are reloaded when they change, so that a new certificate needs no restart.

A server with the files of a mounted Secret:

    certificates = Certificates(service)                       # once in a process
    async with certificates.serving("webhook", Files.pair(folder)) as context:
        await web.SockSite(runner, socket, ssl_context=context).start()

`Files.mutual(folder)` accepts only clients whose certificate is signed by the folder's ca.crt.

A client of such a server gets the newest context for each new connection:

    async with certificates.calling("demand stream", Files.mutual(folder)) as newest:
        await session.get(url, ssl=newest())                   # RetryLater without a certificate

Files may appear late, be half-written or be wrong. Then the previous certificate stays in use, and
the log, metrics and (for servers) readiness say so. As a setting: `tls_folder: TlsFolder = None`.
"""

from growth.service.tls.certificates import Certificates
from growth.service.tls.files import Files, TlsFolder

__all__ = ["Certificates", "Files", "TlsFolder"]
