/// The `--help` output of the client commands.
extension HelpText {
    static let applications = [
        app, appCreate, appList, appShow, appEdit, appCheck, appSecret, appDelete,
    ]

    private static let app = HelpText(
        command: ["app"],
        text: #"""
            OVERVIEW: The applications that may ask people to sign in.

            USAGE: counterfoil-server app <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Register an application.
              list                    List the applications, oldest first.
              show                    Show everything that is registered of an application.
              edit                    Change what is registered of an application.
              check                   Say whether a redirect URI in a request would match
                                      an application.
              secret                  Add a secret to a web or service application, or end
                                      one.
              delete                  Remove an application with everything that people
                                      have allowed it.

              See 'counterfoil-server help app <subcommand>' for detailed help.

            """#)

    private static let appCreate = HelpText(
        command: ["app", "create"],
        text: #"""
            OVERVIEW: Register an application.

            A web or service application gets a secret, which is printed once. A native
            application, a single-page application and a device get none: nothing that is
            in every copy of a program is one.

            A redirect URI is one of three kinds: http://127.0.0.1/callback (a port of the
            device; whichever port the application opens matches),
            com.example.app:/callback (a scheme of the application),
            https://app.example.com/callback (an address that it has claimed).

            --client-id keeps the client_id of an application that moves here from another
            server, so that the copies in the field need no change. It has letters, digits
            and - . _ ~ only, and must not be in use.

            Example:
              counterfoil-server app create --type native --name Lightbox \
                --redirect-uri http://127.0.0.1/callback \
                --scope openid --scope photos.read --data-dir ./data

            USAGE: counterfoil-server app create [<options>] --type <type> --name <name> --data-dir <data-dir>

            OPTIONS:
              --type <type>           What it is. (values: native, spa, web, device,
                                      service)
              --name <name>           The name that people read.
              --client-id <id>        The client_id that it has already. (default: a new
                                      one)
              --publisher <publisher> Who publishes it, as people read it.
              --redirect-uri <redirect-uri>
                                      Where answers may go; repeat for more than one.
              --scope <scope>         A scope that it may ask for; repeat for more than one.
              --optional-scope <optional-scope>
                                      One of its scopes that people may leave out; repeat
                                      for more than one.
              --consent-text <file.md>
                                      A file with its own words for the consent page, in
                                      Markdown.
              --privacy-uri <privacy-uri>
                                      The https address of its privacy policy.
              --terms-uri <terms-uri> The https address of its terms.
              --logo <file>           Its picture, a PNG or JPEG file.
              --origin <origin>       Where the scripts of a single-page application run;
                                      repeat for more than one.
              --ios-app <team.bundle> An app of Apple's platforms that it is; repeat for
                                      more than one.
              --android-app <package:sha256>
                                      An app of Android that it is; repeat for more than
                                      one.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      Where people may be sent after signing out; repeat
                                      for more than one.
              --backchannel-logout-uri <backchannel-logout-uri>
                                      The https address to tell when a session has ended.
              --jwks <file.json>      A file with the public keys of a web or service
                                      application, a JSON Web Key Set; with keys it has no
                                      secret.
              --pkce <pkce>           How it proves that it began: s256, or in old
                                      applications s256-or-plain or exempt-until:DATE.
              --require-state <require-state>
                                      Whether a request without state is refused: true or
                                      false.
              --refresh-tokens <refresh-tokens>
                                      When it gets refresh tokens: offline-access, always
                                      or never.
              --rotate-refresh-tokens <rotate-refresh-tokens>
                                      Whether a refresh token is replaced each time that it
                                      is used: true or false.
              --refresh-grace-period <seconds>
                                      How long a lost answer to a refresh is repeated, 0 to
                                      600.
              --refresh-idle-lifetime <seconds>
                                      How long its refresh tokens outlive their last use,
                                      600 to 31536000.
              --refresh-lifetime <seconds>
                                      How long its refresh tokens live however often they
                                      are used, 600 to 63072000.
              --access-token-lifetime <seconds>
                                      How long its access tokens live, 60 to 86400.
              --id-token-lifetime <seconds>
                                      How long its ID tokens live, 60 to 86400.
              --web-views <web-views> What happens in a web-view: block, warn or allow.
              --id-token-signed-response-alg <id-token-signed-response-alg>
                                      What signs its ID tokens: ES256, RS256 or EdDSA.
              --subject-type <subject-type>
                                      Under which name it knows a person: public, or
                                      pairwise for one that only its host knows.
              --machine-scope <scope> A scope that a service can request without a user;
                                      repeat for more than one. A new service can request
                                      all its scopes.
              --first-party/--no-first-party
                                      Whether it belongs to the owner of this server, so
                                      that people are not asked for consent.
              --vouched-for/--no-vouched-for
                                      Whether you know who publishes it; if not, pages warn
                                      of it.
              --claimed-https-verified/--no-claimed-https-verified
                                      Whether you know that its https redirect URIs are its
                                      own.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appList = HelpText(
        command: ["app", "list"],
        text: #"""
            OVERVIEW: List the applications, oldest first.

            Example:
              counterfoil-server app list --data-dir ./data

            USAGE: counterfoil-server app list --data-dir <data-dir> [--json]

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appShow = HelpText(
        command: ["app", "show"],
        text: #"""
            OVERVIEW: Show everything that is registered of an application.

            Example:
              counterfoil-server app show CLIENT_ID --data-dir ./data

            USAGE: counterfoil-server app show <client-id> --data-dir <data-dir> [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appEdit = HelpText(
        command: ["app", "edit"],
        text: #"""
            OVERVIEW: Change what is registered of an application.

            Only what is given changes. A list replaces the whole list, and an empty value
            clears: --publisher "". The type never changes. What was verified and vouched
            for stays so, because you have seen what you write. A scope that is added to a
            service is used without a user only after --machine-scope names it.

            Example:
              counterfoil-server app edit CLIENT_ID --consent-text words.md \
                --access-token-lifetime 600 --data-dir ./data

            USAGE: counterfoil-server app edit [<options>] <client-id> --data-dir <data-dir>

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --name <name>           The name that people read.
              --publisher <publisher> Who publishes it, as people read it.
              --redirect-uri <redirect-uri>
                                      Where answers may go; repeat for more than one.
              --scope <scope>         A scope that it may ask for; repeat for more than one.
              --optional-scope <optional-scope>
                                      One of its scopes that people may leave out; repeat
                                      for more than one.
              --consent-text <file.md>
                                      A file with its own words for the consent page, in
                                      Markdown.
              --privacy-uri <privacy-uri>
                                      The https address of its privacy policy.
              --terms-uri <terms-uri> The https address of its terms.
              --logo <file>           Its picture, a PNG or JPEG file.
              --origin <origin>       Where the scripts of a single-page application run;
                                      repeat for more than one.
              --ios-app <team.bundle> An app of Apple's platforms that it is; repeat for
                                      more than one.
              --android-app <package:sha256>
                                      An app of Android that it is; repeat for more than
                                      one.
              --post-logout-redirect-uri <post-logout-redirect-uri>
                                      Where people may be sent after signing out; repeat
                                      for more than one.
              --backchannel-logout-uri <backchannel-logout-uri>
                                      The https address to tell when a session has ended.
              --jwks <file.json>      A file with the public keys of a web or service
                                      application, a JSON Web Key Set; with keys it has no
                                      secret.
              --pkce <pkce>           How it proves that it began: s256, or in old
                                      applications s256-or-plain or exempt-until:DATE.
              --require-state <require-state>
                                      Whether a request without state is refused: true or
                                      false.
              --refresh-tokens <refresh-tokens>
                                      When it gets refresh tokens: offline-access, always
                                      or never.
              --rotate-refresh-tokens <rotate-refresh-tokens>
                                      Whether a refresh token is replaced each time that it
                                      is used: true or false.
              --refresh-grace-period <seconds>
                                      How long a lost answer to a refresh is repeated, 0 to
                                      600.
              --refresh-idle-lifetime <seconds>
                                      How long its refresh tokens outlive their last use,
                                      600 to 31536000.
              --refresh-lifetime <seconds>
                                      How long its refresh tokens live however often they
                                      are used, 600 to 63072000.
              --access-token-lifetime <seconds>
                                      How long its access tokens live, 60 to 86400.
              --id-token-lifetime <seconds>
                                      How long its ID tokens live, 60 to 86400.
              --web-views <web-views> What happens in a web-view: block, warn or allow.
              --id-token-signed-response-alg <id-token-signed-response-alg>
                                      What signs its ID tokens: ES256, RS256 or EdDSA.
              --subject-type <subject-type>
                                      Under which name it knows a person: public, or
                                      pairwise for one that only its host knows.
              --machine-scope <scope> A scope that a service can request without a user;
                                      repeat for more than one. A new service can request
                                      all its scopes.
              --first-party/--no-first-party
                                      Whether it belongs to the owner of this server, so
                                      that people are not asked for consent.
              --vouched-for/--no-vouched-for
                                      Whether you know who publishes it; if not, pages warn
                                      of it.
              --claimed-https-verified/--no-claimed-https-verified
                                      Whether you know that its https redirect URIs are its
                                      own.
              --remove-logo           Take its picture away.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appCheck = HelpText(
        command: ["app", "check"],
        text: #"""
            OVERVIEW: Say whether a redirect URI in a request would match an application.

            The rule is the one of the server itself. Exit codes: 0 it matches, 1 it does
            not.

            Example:
              counterfoil-server app check CLIENT_ID http://127.0.0.1:51004/callback
            --data-dir ./data

            USAGE: counterfoil-server app check <client-id> <uri> --data-dir <data-dir> [--json]

            ARGUMENTS:
              <client-id>             The client_id.
              <uri>                   The redirect_uri as the application would send it.

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appSecret = HelpText(
        command: ["app", "secret"],
        text: #"""
            OVERVIEW: Add a secret to a web or service application, or end one.

            A new secret is printed once and is nowhere else. An application may have 2 at
            a time, so that the new one can take over before the old one is ended.

            Example:
              counterfoil-server app secret CLIENT_ID --data-dir ./data
              counterfoil-server app secret CLIENT_ID --remove oldest --data-dir ./data

            USAGE: counterfoil-server app secret <client-id> [--remove <remove>] --data-dir <data-dir> [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --remove <remove>       End a secret: oldest, or how its digest begins, as
                                      app show prints it.
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appDelete = HelpText(
        command: ["app", "delete"],
        text: #"""
            OVERVIEW: Remove an application with everything that people have allowed it.

            Nothing is asked, and nothing brings it back: its client_id, its secrets and
            every consent are gone, and no code of it can be redeemed any more.

            Example:
              counterfoil-server app delete CLIENT_ID --data-dir ./data

            USAGE: counterfoil-server app delete <client-id> --data-dir <data-dir> [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
