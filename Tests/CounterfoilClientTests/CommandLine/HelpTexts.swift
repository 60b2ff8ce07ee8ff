/// The help of every command, whole, on a terminal of 80 columns.
enum HelpTexts {
    static let expected: [String: String] = [
        "": overview, "login": login, "token": token, "call": call, "logout": logout,
    ]

    private static let overview = """
        OVERVIEW: Sign in through the browser, keep the token safe, and call the API
        with it.

        Example:
          counterfoil login https://id.example.com --client-id lightbox --scope openid
          counterfoil call https://photos.example.com/photos

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
          logout                  Forget the token here, and revoke it at the server
                                  where the server can.

          See 'counterfoil help <subcommand>' for detailed help.

        """

    private static let login = """
        OVERVIEW: Sign in through the system browser and keep the token.

        The address to open is always printed on standard error. The browser is the
        system's default, or the one of $BROWSER. The answer arrives on a port of this
        device.

        Example:
          counterfoil login https://id.example.com --client-id lightbox --scope openid

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil login <issuer> --client-id <id> [--scope <scope> ...] [--redirect-uri \
        <uri>] [--browser <browser>] [--timeout <seconds>] [--login-hint <hint>] [--assume-pkce] \
        [--profile <name>] [--store <store>] [--json] [--verbose]

        ARGUMENTS:
          <issuer>                The server, exactly as it names itself, such as
                                  https://id.example.com.

        OPTIONS:
          --client-id <id>        The client as it is registered there.
          --scope <scope>         Permissions to ask for; may be repeated.
          --redirect-uri <uri>    The loopback redirect URI as it is registered;
                                  without a port any free one is taken. (default:
                                  http://127.0.0.1/callback)
          --browser <browser>     Whether to open the browser, or only print the
                                  address. (values: open, print; default: open)
          --timeout <seconds>     How long to wait for the answer. (default: 300)
          --login-hint <hint>     Whom to suggest on the sign-in page.
          --assume-pkce           Take a server whose metadata do not say that it does
                                  PKCE with S256; its documentation must.
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, or file:PATH for an
                                  encrypted file. Otherwise $COUNTERFOIL_STORE,
                                  otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let token = """
        OVERVIEW: Print the access token, alone, for use in scripts.

        When the token has expired, sign in again; refreshing comes with a later
        version.

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
          --store <store>         Where tokens are kept: auto, or file:PATH for an
                                  encrypted file. Otherwise $COUNTERFOIL_STORE,
                                  otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let call = """
        OVERVIEW: Call an API with the access token and print its answer.

        The token goes to https addresses and to this device only, and never along a
        redirect. A status of 400 or more prints the body too: exit code 3, and 6 for
        those that may pass.

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

        USAGE: counterfoil call <url> [--include] [--method <method>] [--data <data>] [--header \
        <name: value> ...] [--profile <name>] [--store <store>] [--json] [--verbose]

        ARGUMENTS:
          <url>                   The address of the API.

        OPTIONS:
          --include               Print the status and the header fields before the
                                  body.
          --method <method>       The HTTP method; GET, and POST with --data.
          --data <data>           The body: @FILE, @- for standard input, or the text
                                  itself.
          --header <name: value>  A header field to add; may be repeated.
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, or file:PATH for an
                                  encrypted file. Otherwise $COUNTERFOIL_STORE,
                                  otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """

    private static let logout = """
        OVERVIEW: Forget the token here, and revoke it at the server where the server
        can.

        The token is removed from this device in any case.

        Example:
          counterfoil logout

        Exit codes:
          0   done
          3   refused by the server or the person: sign in again
          4   timed out
          5   an answer rejected as unsafe
          6   network or server failure that may pass
          64  usage

        USAGE: counterfoil logout [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --profile <name>        The name under which the sign-in is kept; otherwise
                                  default.
          --store <store>         Where tokens are kept: auto, or file:PATH for an
                                  encrypted file. Otherwise $COUNTERFOIL_STORE,
                                  otherwise auto.
          --json                  Write results and errors as JSON.
          --verbose               Tell what happens on standard error; never a code or
                                  a token.
          --version               Show the version.
          -h, --help              Show help information.


        """
}
