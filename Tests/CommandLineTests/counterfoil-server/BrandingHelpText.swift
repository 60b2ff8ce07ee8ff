/// The `--help` output of the branding commands.
extension HelpText {
    static let branding = [brandingWhole, brandingShow, brandingEdit]

    private static let brandingWhole = HelpText(
        command: ["branding"],
        text: #"""
            OVERVIEW: Manage the branding of pages and the service's text on the consent
            page.

            USAGE: counterfoil-server branding <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              show                    Show the branding.
              edit                    Change the branding.

              See 'counterfoil-server help branding <subcommand>' for detailed help.

            """#)

    private static let brandingShow = HelpText(
        command: ["branding", "show"],
        text: #"""
            OVERVIEW: Show the branding.

            Example:
              counterfoil-server branding show --data-dir ./data

            USAGE: counterfoil-server branding show [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>] [--json]

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

    private static let brandingEdit = HelpText(
        command: ["branding", "edit"],
        text: #"""
            OVERVIEW: Change the branding.

            Only the given options change, and an empty value clears: --support-uri "". The
            consent page shows the text and the privacy policy of the service in addition
            to those of the app. Each language has its own; without one, the English
            version is shown. Upload the logo at /admin/branding.

            Example:
              counterfoil-server branding edit --language nb --consent-text words.md \
                --privacy-uri https://example.com/personvern --data-dir ./data

            USAGE: counterfoil-server branding edit [--name <name>] [--accent <colour>] [--support-uri <uri>] \#
            [--consent-text <file.md>] [--privacy-uri <url>] [--language <language>] [--data-dir <directory>] \#
            [--database <uri>] [--server-key-file <file>] [--config <file>] [--json]

            OPTIONS:
              --name <name>           The name of the service, 1 to 60 characters.
              --accent <colour>       The colour of buttons and links, such as #2352c5.
              --support-uri <uri>     Where users get help: an https or mailto URI.
              --consent-text <file.md>
                                      A Markdown file with the service's text for the
                                      consent page.
              --privacy-uri <url>     The https URL of the service's privacy policy.
              --language <language>   The language of the text and the privacy policy: en,
                                      de, nb, fr or es. (default: en)
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
