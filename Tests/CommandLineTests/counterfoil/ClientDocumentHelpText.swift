/// The help of `counterfoil client-document`, whole, on a terminal of 80 columns.
enum ClientDocumentHelpText {
    static let expected = """
        OVERVIEW: Print the metadata document of a client, or check a published one.

        Servers that accept client metadata documents need no registration: the URL of
        the document is the client ID, and every installation of the client uses it
        (login --client-metadata). Serve the document at exactly that URL, without a
        redirect, as application/json. The document is for a client without a secret.

        With --check, the document at the URL is fetched and judged by the same rules.
        The exit code is 0 if servers can use it, and otherwise that of the first
        fault.

        Examples:
          counterfoil client-document https://app.example/client.json --name Lightbox
          counterfoil client-document https://app.example/client.json --check

        Exit codes:
          0    success
          3    sign in again
          4    timed out
          5    response rejected as unsafe
          6    temporary network or server failure
          7    refused by the server, the user or the API
          64   usage error
          74   the output could not be written
          130  interrupted

        USAGE: counterfoil client-document <url> [--check] [--name <name>] [--redirect-uri <uri> ...] \
        [--client-uri <url>] [--logo-uri <url>] [--scope <scope> ...] [--json] [--verbose]

        ARGUMENTS:
          <url>                   The URL at which the document is served, which is
                                  also the client ID.

        OPTIONS:
          --check                 Fetch the document and check it, instead of printing
                                  one.
          --name <name>           The name that users see on the consent page.
          --redirect-uri <uri>    A redirect URI of the client: on loopback without a
                                  port, with a private-use scheme, or https. Can be
                                  repeated. (default: http://127.0.0.1/callback)
          --client-uri <url>      The URL of a page about the client.
          --logo-uri <url>        The URL of the logo of the client.
          --scope <scope>         The scope that the client may request. Can be
                                  repeated.
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """
}
