/// The `--help` output of the client commands, word for word and in one file, because most of it is two long lists of
/// options that must stay equal.
extension HelpText {
    static let applications = [
        app, appCreate, appList, appShow, appEdit, appCheck, appSecret, appDelete,
    ]

    private static let app = HelpText(
        command: ["app"],
        text: #"""
            OVERVIEW: Manage the apps (clients) that users can sign in to.

            USAGE: counterfoil-server app <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              create                  Register an app.
              list                    List the apps, oldest first.
              show                    Show the registration of an app, and how it connects
                                      to the server.
              edit                    Change the registration of an app.
              check                   Check whether a redirect URI in a request matches an
                                      app.
              secret                  Add a client secret to a web or service app, or
                                      delete one.
              delete                  Delete an app, with all consent that users gave to it.

              See 'counterfoil-server help app <subcommand>' for detailed help.

            """#)

    private static let appCreate = HelpText(
        command: ["app", "create"],
        text: #"""
            OVERVIEW: Register an app.

            A web or service app gets a client secret, which is printed once. Native apps,
            single-page apps and devices get none, because a secret in every copy of a
            program is not secret.

            A redirect URI is of one of three kinds:
              http://127.0.0.1/callback         loopback; every port matches a native app
              com.example.app:/callback         private-use scheme
              https://app.example.com/callback  https URL of the app

            A web or single-page app may have a loopback URI for development, such as
            http://localhost:5173/callback. If it has a port, only that port matches. Users
            are asked for consent each time.

            Without --scope, the app may request openid, profile and email; a service may
            request nothing.

            --client-id keeps the client_id of an app that moves here from another server,
            so that installed copies still work. It has only letters, digits and - . _ ~,
            or is the https URL of a client document, which the server then never reads. It
            must not be in use.

            Example:
              counterfoil-server app create --type native --name Lightbox \
                --redirect-uri http://127.0.0.1/callback \
                --scope openid --scope photos.read --data-dir ./data

            USAGE: counterfoil-server app create [<options>] --type <type> --name <name>

            CONSENT PAGE:
              --publisher <name>      The publisher shown to users.
              --consent-text <file.md>
                                      A Markdown file with the app's text for the consent
                                      page.
              --privacy-uri <url>     The https URL of its privacy policy.
              --terms-uri <url>       The https URL of its terms of service.
              --logo <file>           Its logo, a PNG or JPEG file.

            REQUESTS:
              --redirect-uri <uri>    A redirect URI. Can be repeated.
              --legacy-redirect-uri <uri>
                                      A redirect URI of an app that moves here, accepted
                                      although its scheme breaks the rules:
                                      lightbox://oauth. Can be repeated.
              --scope <scope>         A scope that the app may request. Can be repeated.
              --optional-scope <scope>
                                      A scope of the app that users may decline. Can be
                                      repeated.
              --origin <origin>       An origin of a single-page app, allowed by CORS. Can
                                      be repeated. Default: the origins of its redirect
                                      URIs.
              --ios-app <team.bundle> Its app ID on Apple platforms, for the association
                                      file. Can be repeated.
              --android-app <package:sha256>
                                      Its Android package and certificate, for the
                                      association file. Can be repeated.
              --post-logout-redirect-uri <uri>
                                      A redirect URI for after sign-out. Can be repeated.
              --backchannel-logout-uri <url>
                                      The https URL that receives logout tokens when a
                                      session ends.
              --jwks <file.json>      A JSON Web Key Set file with the public keys of a web
                                      or service app. With keys, secrets are ignored.

            TOKENS:
              --refresh-tokens <when> When to issue refresh tokens: offline-access, always
                                      or never.
              --rotate-refresh-tokens <bool>
                                      Rotate the refresh token on each use: true or false.
              --refresh-grace-period <seconds>
                                      The time in which a refresh can be retried with the
                                      previous token, 0 to 600.
              --refresh-idle-lifetime <seconds>
                                      The lifetime of a refresh token since its last use,
                                      600 to 31536000.
              --refresh-lifetime <seconds>
                                      The total lifetime of refresh tokens, however often
                                      they are used, 600 to 63072000.
              --access-token-lifetime <seconds>
                                      The lifetime of its access tokens, 60 to 86400.
              --id-token-lifetime <seconds>
                                      The lifetime of its ID tokens, 60 to 86400.
              --id-token-signed-response-alg <algorithm>
                                      The signing algorithm of its ID tokens: ES256, RS256,
                                      Ed25519 or EdDSA.
              --user-claims-in-id-token <bool>
                                      Put the claims of the scopes profile and email into
                                      its ID tokens: true or false.
              --subject-type <type>   The type of subject identifiers (sub): public, or
                                      pairwise for different ones per redirect URI host.

            POLICY:
              --pkce <policy>         The PKCE policy: s256; for web apps also
                                      s256-or-nonce; for old apps also s256-or-plain,
                                      exempt-until:DATE and, with a secret or key, optional.
              --require-state <bool>  Refuse authorization requests without state: true or
                                      false.
              --require-pushed-requests <bool>
                                      Refuse authorization requests that were not pushed
                                      (PAR): true or false.
              --require-bound-tokens <bool>
                                      Issue only access tokens that are bound to a key
                                      (DPoP): true or false.
              --web-views <policy>    The policy for sign-in in a web-view: block, warn or
                                      allow.
              --machine-scope <scope> A scope that a service can request without a user.
                                      Can be repeated. A new service can request all its
                                      scopes.
              --first-party/--no-first-party
                                      Whether the app belongs to the operator of this
                                      server, so users are not asked for consent.
              --vouched-for/--no-vouched-for
                                      Whether you vouch for the app. If not, pages show a
                                      warning.
              --claimed-https-verified/--no-claimed-https-verified
                                      Whether you have verified that its https redirect
                                      URIs belong to it.

            OPTIONS:
              --type <type>           The type of the app. (values: native, spa, web,
                                      device, service)
              --name <name>           The name shown to users.
              --client-id <id>        The existing client_id of the app. (default: a new
                                      one)
              --developer <user>      The user who owns the app and finds it at /apps.
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appList = HelpText(
        command: ["app", "list"],
        text: #"""
            OVERVIEW: List the apps, oldest first.

            Example:
              counterfoil-server app list --data-dir ./data

            USAGE: counterfoil-server app list [--data-dir <directory>] [--database <uri>] [--server-key-file <file>] \#
            [--config <file>] [--json]

            OPTIONS:
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appShow = HelpText(
        command: ["app", "show"],
        text: #"""
            OVERVIEW: Show the registration of an app, and how it connects to the server.

            The ready configurations contain the values of the app. Where a library needs
            the client secret, they name an environment variable such as CLIENT_SECRET.

            Examples:
              counterfoil-server app show CLIENT_ID --data-dir ./data
              counterfoil-server app show CLIENT_ID --configuration spring > application.yml

            USAGE: counterfoil-server app show <client-id> [--configuration <name>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --configuration <name>  Print only a ready configuration, such as spring or
                                      oidc-client-ts.
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appEdit = HelpText(
        command: ["app", "edit"],
        text: #"""
            OVERVIEW: Change the registration of an app.

            Only the given options change. A list replaces the whole list, and an empty
            value clears: --publisher "". The type cannot change. An app that is vouched
            for or verified stays so. A service can request an added scope without a user
            only after --machine-scope names it.

            Example:
              counterfoil-server app edit CLIENT_ID --consent-text words.md \
                --access-token-lifetime 600 --data-dir ./data

            USAGE: counterfoil-server app edit [<options>] <client-id>

            ARGUMENTS:
              <client-id>             The client_id.

            CONSENT PAGE:
              --publisher <name>      The publisher shown to users.
              --consent-text <file.md>
                                      A Markdown file with the app's text for the consent
                                      page.
              --privacy-uri <url>     The https URL of its privacy policy.
              --terms-uri <url>       The https URL of its terms of service.
              --logo <file>           Its logo, a PNG or JPEG file.

            REQUESTS:
              --redirect-uri <uri>    A redirect URI. Can be repeated.
              --legacy-redirect-uri <uri>
                                      A redirect URI of an app that moves here, accepted
                                      although its scheme breaks the rules:
                                      lightbox://oauth. Can be repeated.
              --scope <scope>         A scope that the app may request. Can be repeated.
              --optional-scope <scope>
                                      A scope of the app that users may decline. Can be
                                      repeated.
              --origin <origin>       An origin of a single-page app, allowed by CORS. Can
                                      be repeated. Default: the origins of its redirect
                                      URIs.
              --ios-app <team.bundle> Its app ID on Apple platforms, for the association
                                      file. Can be repeated.
              --android-app <package:sha256>
                                      Its Android package and certificate, for the
                                      association file. Can be repeated.
              --post-logout-redirect-uri <uri>
                                      A redirect URI for after sign-out. Can be repeated.
              --backchannel-logout-uri <url>
                                      The https URL that receives logout tokens when a
                                      session ends.
              --jwks <file.json>      A JSON Web Key Set file with the public keys of a web
                                      or service app. With keys, secrets are ignored.

            TOKENS:
              --refresh-tokens <when> When to issue refresh tokens: offline-access, always
                                      or never.
              --rotate-refresh-tokens <bool>
                                      Rotate the refresh token on each use: true or false.
              --refresh-grace-period <seconds>
                                      The time in which a refresh can be retried with the
                                      previous token, 0 to 600.
              --refresh-idle-lifetime <seconds>
                                      The lifetime of a refresh token since its last use,
                                      600 to 31536000.
              --refresh-lifetime <seconds>
                                      The total lifetime of refresh tokens, however often
                                      they are used, 600 to 63072000.
              --access-token-lifetime <seconds>
                                      The lifetime of its access tokens, 60 to 86400.
              --id-token-lifetime <seconds>
                                      The lifetime of its ID tokens, 60 to 86400.
              --id-token-signed-response-alg <algorithm>
                                      The signing algorithm of its ID tokens: ES256, RS256,
                                      Ed25519 or EdDSA.
              --user-claims-in-id-token <bool>
                                      Put the claims of the scopes profile and email into
                                      its ID tokens: true or false.
              --subject-type <type>   The type of subject identifiers (sub): public, or
                                      pairwise for different ones per redirect URI host.

            POLICY:
              --pkce <policy>         The PKCE policy: s256; for web apps also
                                      s256-or-nonce; for old apps also s256-or-plain,
                                      exempt-until:DATE and, with a secret or key, optional.
              --require-state <bool>  Refuse authorization requests without state: true or
                                      false.
              --require-pushed-requests <bool>
                                      Refuse authorization requests that were not pushed
                                      (PAR): true or false.
              --require-bound-tokens <bool>
                                      Issue only access tokens that are bound to a key
                                      (DPoP): true or false.
              --web-views <policy>    The policy for sign-in in a web-view: block, warn or
                                      allow.
              --machine-scope <scope> A scope that a service can request without a user.
                                      Can be repeated. A new service can request all its
                                      scopes.
              --first-party/--no-first-party
                                      Whether the app belongs to the operator of this
                                      server, so users are not asked for consent.
              --vouched-for/--no-vouched-for
                                      Whether you vouch for the app. If not, pages show a
                                      warning.
              --claimed-https-verified/--no-claimed-https-verified
                                      Whether you have verified that its https redirect
                                      URIs belong to it.

            OPTIONS:
              --name <name>           The name shown to users.
              --developer <user>      The user who owns the app and finds it at /apps. Only
                                      administrators see it if the name is empty.
              --remove-logo           Remove the logo of the app.
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appCheck = HelpText(
        command: ["app", "check"],
        text: #"""
            OVERVIEW: Check whether a redirect URI in a request matches an app.

            The server applies the same rule to requests. Exit codes: 0 the URI matches, 1
            it does not.

            Example:
              counterfoil-server app check CLIENT_ID http://127.0.0.1:51004/callback \
                --data-dir ./data

            USAGE: counterfoil-server app check <client-id> <uri> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.
              <uri>                   The redirect_uri that the app sends.

            OPTIONS:
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appSecret = HelpText(
        command: ["app", "secret"],
        text: #"""
            OVERVIEW: Add a client secret to a web or service app, or delete one.

            A new secret is printed once and cannot be shown again. An app can have 2
            secrets, so that it can change to the new one before you delete the old one.

            Examples:
              counterfoil-server app secret CLIENT_ID --data-dir ./data
              counterfoil-server app secret CLIENT_ID --remove oldest --data-dir ./data

            USAGE: counterfoil-server app secret <client-id> [--remove <secret>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --remove <secret>       Delete a secret: oldest, or the start of its id as
                                      printed by app show.
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let appDelete = HelpText(
        command: ["app", "delete"],
        text: #"""
            OVERVIEW: Delete an app, with all consent that users gave to it.

            There is no confirmation, and the deletion cannot be undone. The client_id, the
            secrets and all consent are deleted, and pending authorization codes can no
            longer be redeemed.

            Example:
              counterfoil-server app delete CLIENT_ID --data-dir ./data

            USAGE: counterfoil-server app delete <client-id> [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

            ARGUMENTS:
              <client-id>             The client_id.

            OPTIONS:
              --data-dir <directory>  The data directory of the server. (default:
                                      $COUNTERFOIL_DATA_DIR or the user's data folder)
              --database <uri>        A PostgreSQL database instead of a data directory:
                                      postgresql://USER@HOST/NAME. (default:
                                      $COUNTERFOIL_DATABASE)
              --server-key-file <file>
                                      The file with the server key, 32 bytes, for
                                      --database. (default: $COUNTERFOIL_SERVER_KEY)
              --config <file>         The settings file of the server, in YAML. (default:
                                      $COUNTERFOIL_SERVER_CONFIG, or
                                      /etc/counterfoil/server.yaml for the user counterfoil)
              --json                  Print JSON instead of text.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
