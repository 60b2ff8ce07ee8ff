/// The help of every command, whole, on a terminal of 80 columns.
enum HelpTexts {
    static let expected: [String: String] = [
        "": overview, "login": login, "token": token, "call": call, "whoami": whoami, "logout": logout,
        "profiles": profiles, "doctor": doctor,
    ]

    private static let overview = """
        OVERVIEW: Sign in through the browser, keep the token safe, and call the API
        with it.

        Example:
          counterfoil login https://id.example.com --client-id lightbox --scope openid
          counterfoil call https://photos.example.com/photos

        For completion in bash (zsh and fish have scripts of their own under their
        names):
          source <(counterfoil --generate-completion-script bash)

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          login                   Sign in through the system browser and keep the token.
          token                   Print the access token, alone, for use in scripts.
          call                    Call an API with the access token and print its
                                  answer.
          whoami                  Say who is signed in.
          logout                  Forget the token here, and revoke it at the server
                                  where the server can.
          doctor                  Examine a server, a registration and an API, and say
                                  how to mend what is wrong.
          profiles                List the sign-ins that are kept on this device,
                                  without their tokens.

          See 'counterfoil help <subcommand>' for detailed help.

        """

    private static let login = """
        OVERVIEW: Sign in through the system browser and keep the token.

        The address to open is always printed on standard error. The browser is the
        system's default, or the one of $BROWSER, and the answer arrives by itself.
        Over SSH without a screen, and with --browser paste, the address of the page
        that the browser ends on is pasted here; it is not shown. With --device a code
        is typed on another device.

        Without --client-id the server is told what client this is: by the address of
        --client-metadata where it takes one, otherwise by a registration where it
        takes that, which is kept for the next time. Nothing that one server gave is
        ever used at another.

        SSL_CERT_FILE names a file with certificate authorities that every command
        trusts in the place of the system's.

        Examples:
          counterfoil login https://id.example.com --client-id lightbox --scope openid
          counterfoil login https://mcp.example.com --scope "openid offline_access"
          counterfoil login photos.example.com --vendor fotoware --client-id lightbox
          counterfoil login --resource https://api.example.com --client-id lightbox
        --device

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil login [<options>] [<issuer>]

        ARGUMENTS:
          <issuer>                The server, exactly as it names itself, such as
                                  https://id.example.com; with --vendor its host,
                                  tenant or region.

        OPTIONS:
          --client-id <id>        The client as it is registered there; without it
                                  counterfoil registers itself, where the server takes
                                  that.
          --client-metadata <url> The address of a document that says what the client
                                  is, for servers that take one in the place of an id.
          --scope <scope>         Permissions to ask for; may be repeated.
          --resource <uri>        An API that the token is to be for, by its address;
                                  may be repeated. Without a server it is asked for its
                                  own.
          --vendor <name>         The vendor of the server, where it differs from the
                                  standard: auth0, fotoware, github, google, itwin,
                                  microsoft, okta, slack, zoho.
          --dpop                  Bind the token to a key of this device, so that it is
                                  of no use elsewhere (DPoP).
          --client-secret-file <file>
                                  The file with the client's secret, for vendors that
                                  give one.
          --client-secret-stdin   Read the client's secret from a line of standard
                                  input.
          --client-key <file>     The file with the key by which the client proves
                                  itself (private_key_jwt): P-256 or Ed25519, mode 0600.
          --client-key-id <id>    The name by which the server knows that key;
                                  otherwise its thumbprint.
          --assume-pkce           Take a server whose metadata do not say that it does
                                  PKCE with S256; its documentation must.
          --redirect-uri <uri>    The redirect URI as it is registered: on loopback,
                                  where without a port any free one is taken, or with a
                                  scheme of its own. (default:
                                  http://127.0.0.1/callback)
          --browser <browser>     Whether to open the browser, or only print the
                                  address, or take the answer from the keyboard.
                                  (values: open, print, paste; default: open)
          --device                Sign in on another device: print an address and a
                                  code, and wait.
          --timeout <seconds>     How long to wait for the answer. (default: 300)
          --login-hint <hint>     Whom to suggest on the sign-in page.
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let token = """
        OVERVIEW: Print the access token, alone, for use in scripts.

        A token that has expired, or is about to, is refreshed first; however many
        scripts ask at once, the server is asked once.

        Example:
          counterfoil token | my-program --token-from-stdin

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil token [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let call = """
        OVERVIEW: Call an API with the access token and print its answer.

        The token goes to https addresses and to this device only, and never along a
        redirect. It is refreshed when it has to be. A status of 400 or more prints the
        body too: exit code 3, and 6 for those that may pass. With --step-up the
        browser opens when the API asks for more permissions, or for a stronger or
        newer sign-in.

        Example:
          counterfoil call https://photos.example.com/photos
          counterfoil call --data @photo.json https://photos.example.com/photos

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil call <url> [--include] [--method <method>] [--data <data>] [--header <name: value> ...] \
        [--step-up] [--redirect-uri <uri>] [--profile <name>] [--store <store>] [--json] [--verbose]

        ARGUMENTS:
          <url>                   The address of the API.

        OPTIONS:
          --include               Print the status and the header fields before the
                                  body.
          --method <method>       The HTTP method; GET, and POST with --data.
          --data <data>           The body: @FILE, @- for standard input, or the text
                                  itself.
          --header <name: value>  A header field to add; may be repeated.
          --step-up               Let the person sign in again when the API asks for
                                  more.
          --redirect-uri <uri>    With --step-up, the redirect URI as it is registered.
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let whoami = """
        OVERVIEW: Say who is signed in.

        The server is asked where it can be; otherwise it is what it said at the
        sign-in. Both need the scope openid.

        Example:
          counterfoil whoami

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil whoami [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let logout = """
        OVERVIEW: Forget the token here, and revoke it at the server where the server
        can.

        The token is removed from this device in any case. With --browser the person's
        session at the server is ended too, in the browser in which it began; with
        --redirect-uri the end of it is waited for.

        Example:
          counterfoil logout
          counterfoil logout --browser open

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil logout [--browser <browser>] [--redirect-uri <uri>] [--timeout <seconds>] \
        [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --browser <browser>     End the session at the server too: open the browser
                                  for it, or only print the address. (values: open,
                                  print)
          --redirect-uri <uri>    With --browser, where it goes afterwards, as it is
                                  registered for that; on loopback or with a scheme of
                                  its own.
          --timeout <seconds>     With --redirect-uri, how long to wait for the
                                  browser. (default: 300)
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let profiles = """
        OVERVIEW: List the sign-ins that are kept on this device, without their tokens.

        Example:
          counterfoil profiles

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil profiles [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, keychain,
                                  secret-service, memory, or file:PATH for an encrypted
                                  file. Otherwise $COUNTERFOIL_STORE, otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let doctor = """
        OVERVIEW: Examine a server, a registration and an API, and say how to mend what
        is wrong.

        Without --client-id it looks at what a server says of itself, its clock, its
        keys and how it refuses. With --client-id it also sends authorization requests
        that show no page and throws away what they give. With --resource it asks an
        API who signs people in for it. With --sign-in a person signs in once, nothing
        of it is kept, and the tokens are looked at too.

        Example:
          counterfoil doctor https://id.example.com --client-id lightbox --sign-in

        The exit code is 0 when nothing is in the way of a sign-in, and otherwise that
        of the first fault.

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil doctor [<issuer>] [--client-id <id>] [--redirect-uri <uri>] [--scope <scope> ...] \
        [--resource <uri>] [--vendor <name>] [--sign-in] [--dpop] [--browser <browser>] [--patience <seconds>] \
        [--json] [--verbose]

        ARGUMENTS:
          <issuer>                The server, exactly as it names itself.

        OPTIONS:
          --client-id <id>        The client as it is registered there.
          --redirect-uri <uri>    The redirect URI as it is registered. (default:
                                  http://127.0.0.1/callback)
          --scope <scope>         Permissions to ask for; may be repeated.
          --resource <uri>        An API, by its address.
          --vendor <name>         The vendor of the server, where it differs from the
                                  standard.
          --sign-in               Sign in once and look at the tokens.
          --dpop                  With --sign-in, bind the tokens to a key of this
                                  device (DPoP).
          --browser <browser>     With --sign-in, whether to open the browser, or only
                                  print the address. (values: open, print; default:
                                  open)
          --patience <seconds>    How long to wait for each answer of a server.
                                  (default: 10)
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """
}
