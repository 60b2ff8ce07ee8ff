/// The help of every command, whole, on a terminal of 80 columns: one file, because most of it is lists of options that
/// the commands share and that must stay equal.
enum HelpTexts {
    static let expected: [String: String] = [
        "": overview, "login": login, "status": status, "token": token, "call": call, "exec": exec, "whoami": whoami,
        "logout": logout, "profiles": profiles, "use": use, "doctor": doctor,
        "client-document": ClientDocumentHelpText.expected,
    ]

    private static let overview = """
        OVERVIEW: Sign in through the browser, store the token, and call APIs with it.

        Examples:
          counterfoil login https://id.example.com --client-id lightbox --scope openid
          counterfoil call https://photos.example.com/photos

        To enable completion in bash (or in zsh or fish, with their names instead):
          source <(counterfoil --generate-completion-script bash)

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

        USAGE: counterfoil <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          login                   Sign in through the system browser and store the
                                  token.
          status                  Show whether a sign-in is good, where, and until when.
          token                   Print only the access token, for use in scripts.
          call                    Call an API with the access token and print its
                                  response.
          exec                    Run a program with the access token in a private file.
          whoami                  Show the user who is signed in.
          logout                  Delete the token here, and revoke it at the server if
                                  possible.
          doctor                  Check a server, a registration and an API, and say
                                  how to fix their faults.
          profiles                List the sign-ins stored on this device, without
                                  their tokens.
          use                     Choose the profile of commands without --profile.
          credential              Pass the token to git, docker, kubectl or the AWS
                                  command line.
          client-document         Print the metadata document of a client, or check a
                                  published one.

          See 'counterfoil help <subcommand>' for detailed help.

        """

    private static let login = """
        OVERVIEW: Sign in through the system browser and store the token.

        The URL to open is always printed on standard error. The browser is the one in
        $BROWSER, or the default of the system, and it returns the response to this
        program. Over SSH without a display, or with --browser paste, paste the URL of
        the page on which the browser ends; it is not echoed. With --device, enter a
        code on another device.

        The options are stored in the configuration file, so the next sign-in with the
        same profile needs no others: counterfoil login --profile work. A command line
        that names a server, a vendor or an API uses none of them.

        Without --client-id, the client is identified by the URL of --client-metadata
        if the server supports that. Otherwise it registers itself if the server
        supports that. The registration is stored for the next sign-in and is never
        used at another server.

        If SSL_CERT_FILE names a file, every command trusts the certificate authorities
        in it instead of those of the system.

        Examples:
          counterfoil login https://id.example.com --client-id lightbox --scope openid
          counterfoil login https://mcp.example.com --scope "openid offline_access"
          counterfoil login photos.example.com --vendor fotoware --client-id lightbox
          counterfoil login --resource https://api.example.com --device
          counterfoil login --profile work

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

        USAGE: counterfoil login [<options>] [<issuer>]

        ARGUMENTS:
          <issuer>                The issuer URL of the server, exactly as in its
                                  metadata, such as https://id.example.com; with
                                  --vendor, its host, tenant or region.

        OPTIONS:
          --client-id <id>        The registered client ID. Without it, counterfoil
                                  registers itself if the server supports that.
          --client-metadata <url> The URL of the client's metadata document, for
                                  servers that accept it as the client ID.
          --scope <scope>         The scope to request. The documentation of the API
                                  names scopes, and so may the metadata of the server
                                  (scopes_supported). Can be repeated.
          --resource <uri>        The URI of an API for which the token is requested.
                                  Without an issuer, the API names its server. Can be
                                  repeated.
          --vendor <name>         The vendor of the server, if it differs from the
                                  standard: auth0, fotoware, github, google, itwin,
                                  microsoft, okta, slack, zoho.
          --dpop                  Bind the token to a key of this device, so that it
                                  cannot be used elsewhere (DPoP).
          --client-secret-file <file>
                                  The file with the client secret: mode 0600.
          --client-secret-fd <number>
                                  Read the client secret from this open file descriptor.
          --client-secret-stdin   Read the client secret from a line of standard input.
          --client-key <file>     The file with the private key for client
                                  authentication (private_key_jwt): P-256, Ed25519 or
                                  RSA, mode 0600.
          --client-key-id <id>    The ID of that key at the server. (default: its
                                  thumbprint)
          --client-key-algorithm <algorithm>
                                  The signature algorithm of an RSA key, RS256 or
                                  PS256, or of an Ed25519 key, EdDSA or Ed25519.
                                  (default: RS256, EdDSA)
          --assertion-audience <audience>
                                  The audience of signed client assertions; older
                                  servers accept only their token endpoint. (values:
                                  issuer, token-endpoint)
          --par <par>             Push the authorization request to the server (PAR) if
                                  it supports that and a browser opens here (the
                                  default), always or never. (values: auto, always,
                                  never)
          --parameter <name=value>
                                  A further parameter of the authorization request,
                                  such as audience. Can be repeated.
          --trusted-audience <audience>
                                  An audience that ID tokens may name in addition to
                                  the client. Can be repeated.
          --assume-pkce           Accept a server whose metadata omits PKCE with S256.
                                  Its documentation must promise it.
          --api <origin>          The origin of an API to which the token may be sent,
                                  such as https://photos.example.com. Without it and
                                  without --resource, it is the origin of the first
                                  call. Can be repeated.
          --redirect-uri <uri>    The registered redirect URI: on loopback (without a
                                  port, any free one is used) or with a private-use
                                  scheme. (default: http://127.0.0.1/callback)
          --browser <browser>     Open the browser (the default), only print the URL,
                                  or read the pasted response. (values: open, print,
                                  paste)
          --device                Sign in on another device: print a URL and a code,
                                  and wait.
          --qr <qr>               Draw the URL as a QR code, with libqrencode: if it
                                  fits on the terminal, always or never. (values: auto,
                                  always, never; default: auto)
          --copy                  Copy the code to the clipboard.
          --timeout <seconds>     The time to wait for the response. (default: 300;
                                  with --device, until the code expires)
          --login-hint <hint>     The user name to suggest on the sign-in page.
          --prompt <prompt>       What the server must ask for: none, login, consent or
                                  select_account. Can be repeated.
          --grant <grant>         Sign in a user (the default), or a service, which
                                  authenticates without a user. (values:
                                  authorization_code, client_credentials)
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let status = """
        OVERVIEW: Show whether a sign-in is good, where, and until when.

        No request is sent. A sign-in is good if its access token is valid or there is
        a refresh token. The server may have revoked them; counterfoil whoami asks the
        server. The exit code is 0 if the sign-in is good, and 3 if it is not, or if
        there is none.

        Examples:
          counterfoil status
          counterfoil status --json --profile work

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

        USAGE: counterfoil status [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let token = """
        OVERVIEW: Print only the access token, for use in scripts.

        A token that has expired or is about to expire is refreshed first. However many
        scripts ask at once, only one request is sent to the server.

        The token is for all APIs of the sign-in. With --resource it is for one of them
        only, and with --scope it permits less. Such a token is requested once, and
        stored with the sign-in until it expires.

        Examples:
          counterfoil token | my-program --token-from-stdin
          counterfoil token --format header | curl -H @- https://photos.example.com
          counterfoil token --min-lifetime 600
          counterfoil token --resource https://photos.example.com
          counterfoil token --format id-token

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

        USAGE: counterfoil token [--format <format>] [--resource <uri> ...] [--scope <scope> ...] [--min-lifetime <seconds>] [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --format <format>       Print the token alone (the default), as a header
                                  field of HTTP, as JSON with type, scope and
                                  expiration, or as shell commands that export it; or
                                  print the ID token, which names the user. (values:
                                  raw, header, json, env, id-token)
          --resource <uri>        Request an access token for this API of the sign-in
                                  only. Can be repeated.
          --scope <scope>         Request an access token with only this part of the
                                  granted scope. Can be repeated.
          --min-lifetime <seconds>
                                  Refresh the token first if it expires earlier than in
                                  this time.
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let call = """
        OVERVIEW: Call an API with the access token and print its response.

        The token is sent only to https URLs and to this device, and along a redirect
        only within the origin of the URL. It is refreshed if necessary. If the status
        is 400 or more, the body is printed too, and the exit code is 7, or 3 if you
        have to sign in again, or 6 for a temporary failure. If the API rejects the
        token, the command says what differs from what the API accepts. With --step-up,
        the browser opens if the API requires more permissions, or a stronger or newer
        sign-in.

        The response is printed as it arrives, whatever its length. A file is sent
        while it is read. If standard input has more than 1 MiB, it is sent only once,
        so the request is not repeated. If the reader of the output has gone, the exit
        code is 141.

        Examples:
          counterfoil call https://photos.example.com/photos
          counterfoil call --data @photo.json https://photos.example.com/photos
          tar c photos | counterfoil call --data @- https://photos.example.com/import

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

        USAGE: counterfoil call [<options>] <url>

        ARGUMENTS:
          <url>                   The URL of the API.

        OPTIONS:
          --include               Print the status and the header fields before the
                                  body.
          --method <method>       The HTTP method. (default: GET, or POST with --data)
          --data <data>           The body: @FILE, @- for standard input, or the text
                                  itself.
          --header <name: value>  A header field to add. Can be repeated.
          --timeout <seconds>     The time to wait for the response, and then for each
                                  further part of it. (default: 300)
          --step-up               Sign in again if the API requires more.
          --redirect-uri <uri>    With --step-up, the registered redirect URI.
          --resource <uri>        Request an access token for this API of the sign-in
                                  only. Can be repeated.
          --scope <scope>         Request an access token with only this part of the
                                  granted scope. Can be repeated.
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let exec = """
        OVERVIEW: Run a program with the access token in a private file.

        $COUNTERFOIL_TOKEN_FILE is the path of the file. The file has mode 0600 and
        contains only the token. It gets a new token before the old one expires, and is
        deleted when the program ends. No argument and no environment variable contains
        the token. With --resource, the token is for one API only.

        Signals are passed on to the program. The exit code is that of the program, or
        128 and the number of the signal that ended it. It is 127 if the program does
        not exist, and 126 if it cannot be run. If there is no token, the program is
        not run, and the exit code is one of those below.

        Example:
          counterfoil exec -- sh -c 'upload --token-file "$COUNTERFOIL_TOKEN_FILE"'

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

        USAGE: counterfoil exec [--resource <uri> ...] [--scope <scope> ...] [--min-lifetime <seconds>] [--profile <name>] [--store <store>] [--json] [--verbose] -- <command> ...

        ARGUMENTS:
          <command>               The program and its arguments, after --.

        OPTIONS:
          --resource <uri>        Request an access token for this API of the sign-in
                                  only. Can be repeated.
          --scope <scope>         Request an access token with only this part of the
                                  granted scope. Can be repeated.
          --min-lifetime <seconds>
                                  Refresh the token first if it expires earlier than in
                                  this time.
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let whoami = """
        OVERVIEW: Show the user who is signed in.

        The claims come from the UserInfo endpoint of the server. They come from the
        sign-in if the server has none, or if the access token is only for an API. Both
        require the scope openid.

        Example:
          counterfoil whoami

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

        USAGE: counterfoil whoami [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let logout = """
        OVERVIEW: Delete the token here, and revoke it at the server if possible.

        The token is deleted from this device in any case, unless the token store
        cannot be read. With --browser, the user's session at the server is ended too,
        in the browser in which it started. With --redirect-uri, the command waits for
        the end of the session.

        Examples:
          counterfoil logout
          counterfoil logout --browser open

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

        USAGE: counterfoil logout [--browser <browser>] [--redirect-uri <uri>] [--timeout <seconds>] [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --browser <browser>     End the session at the server too: open the browser,
                                  or only print the URL. (values: open, print)
          --redirect-uri <uri>    With --browser, the registered post-logout redirect
                                  URI, on loopback or with a private-use scheme.
          --timeout <seconds>     With --redirect-uri, the time to wait for the
                                  browser. (default: 300)
          --profile <name>        The profile name. (default: $COUNTERFOIL_PROFILE, the
                                  profile of counterfoil use, or default)
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let profiles = """
        OVERVIEW: List the sign-ins stored on this device, without their tokens.

        Example:
          counterfoil profiles

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

        USAGE: counterfoil profiles [--store <store>] [--json] [--verbose]

        OPTIONS:
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let doctor = """
        OVERVIEW: Check a server, a registration and an API, and say how to fix their
        faults.

        Without --client-id, it checks the metadata, clock, keys and error responses of
        the server. With --client-id, it also sends authorization requests that show no
        page, and discards the codes. With --sign-in, you sign in once, and it checks
        the tokens without storing them. It registers no client; the report lists what
        it has not tried.

        With --resource, it checks an API, such as an MCP server, and what clients need
        that know only its URL: the challenge, the metadata, client IDs, and the access
        by scripts in a browser. The API names the issuer.

        Examples:
          counterfoil doctor https://id.example.com --client-id lightbox --sign-in
          counterfoil doctor --resource https://mcp.example.com/mcp

        The exit code is 0 if nothing prevents a sign-in, and otherwise that of the
        first fault.

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

        USAGE: counterfoil doctor [<options>] [<issuer>]

        ARGUMENTS:
          <issuer>                The issuer URL of the server, exactly as in its
                                  metadata.

        OPTIONS:
          --client-id <id>        The registered client ID.
          --redirect-uri <uri>    The registered redirect URI. (default:
                                  http://127.0.0.1/callback)
          --client-secret-file <file>
                                  The file with the client secret: mode 0600.
          --client-secret-fd <number>
                                  Read the client secret from this open file descriptor.
          --client-secret-stdin   Read the client secret from a line of standard input.
          --client-key <file>     The file with the private key for client
                                  authentication (private_key_jwt): P-256, Ed25519 or
                                  RSA, mode 0600.
          --client-key-id <id>    The ID of that key at the server. (default: its
                                  thumbprint)
          --client-key-algorithm <algorithm>
                                  The signature algorithm of an RSA key, RS256 or
                                  PS256, or of an Ed25519 key, EdDSA or Ed25519.
                                  (default: RS256, EdDSA)
          --assertion-audience <audience>
                                  The audience of signed client assertions; older
                                  servers accept only their token endpoint. (values:
                                  issuer, token-endpoint)
          --scope <scope>         The scope to request. Can be repeated.
          --origin <origin>       The origin of a single-page client: check whether its
                                  scripts may use the server (CORS).
          --resource <uri>        The URL of an API or MCP server to check.
          --vendor <name>         The vendor of the server, if it differs from the
                                  standard.
          --sign-in               Sign in once and check the tokens.
          --dpop                  With --sign-in, bind the tokens to a key of this
                                  device (DPoP).
          --browser <browser>     With --sign-in, open the browser, or only print the
                                  URL. (values: open, print; default: open)
          --timeout <seconds>     The time to wait for each response of a server.
                                  (default: 10)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let use = """
        OVERVIEW: Choose the profile of commands without --profile.

        The choice is stored in the configuration file. COUNTERFOIL_PROFILE takes
        precedence over it, and --profile over both.

        Example:
          counterfoil use work

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

        USAGE: counterfoil use <name> [--store <store>] [--json] [--verbose]

        ARGUMENTS:
          <name>                  The profile name, as in counterfoil profiles.

        OPTIONS:
          --store <store>         Where tokens are stored: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. (default: $COUNTERFOIL_STORE, or auto)
          --json                  Write results and errors as JSON.
          --verbose               Report each step on standard error; codes and tokens
                                  are never printed.
          --version               Show the version.
          -h, --help              Show help information.


        """
}
