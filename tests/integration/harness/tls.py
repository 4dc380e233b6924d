# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app over TLS, in a virtual host with its own certificate."""
import ssl
import subprocess

from harness.client import Raw
from harness.config import App
from harness.httpd import Httpd, reserve_port


class TlsHost:
    """Make it before httpd is started, and close it at the end."""

    def __init__(self, httpd: Httpd, app: App, *directives: str) -> None:
        key, self.certificate = httpd.dir / "tls.key", httpd.dir / "tls.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec",
                        "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=shop", "-keyout", key, "-out",
                        self.certificate], check=True, capture_output=True)
        self.port, self.claim = reserve_port()
        httpd.log.expect("ssl:warn")  # it has signed itself
        httpd.modules += ["socache_shmcb", "ssl"]
        httpd.directives += [
            f"Listen 127.0.0.1:{self.port}", f"<VirtualHost *:{self.port}>",
            "ServerName shop", "SSLEngine on",
            f"SSLCertificateFile {self.certificate}",
            f"SSLCertificateKeyFile {key}", *directives, *app.lines(),
            "</VirtualHost>"]

    def context(self) -> ssl.SSLContext:
        """For a client that trusts it."""
        context = ssl.create_default_context(cafile=self.certificate)
        context.check_hostname = False
        return context

    def connect(self, receive_buffer: int = 0) -> Raw:
        return Raw(self.port, receive_buffer=receive_buffer,
                   context=self.context())

    def close(self) -> None:
        self.claim.close()
