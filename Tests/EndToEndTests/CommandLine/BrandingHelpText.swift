/// The `--help` output of the branding commands.
extension HelpText {
    static let branding = [brandingWhole, brandingShow, brandingEdit]

    private static let brandingWhole = HelpText(
        command: ["branding"],
        text: #"""
            OVERVIEW: How the pages look, and what the service itself says on the consent
            page.

            USAGE: counterfoil-server branding <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              show                    Show the look of the pages, and what the service says
                                      on the consent page.
              edit                    Change the look of the pages, or what the service
                                      says on the consent page.

              See 'counterfoil-server help branding <subcommand>' for detailed help.

            """#)

    private static let brandingShow = HelpText(
        command: ["branding", "show"],
        text: #"""
            OVERVIEW: Show the look of the pages, and what the service says on the consent
            page.

            Example:
              counterfoil-server branding show --data-dir ./data

            USAGE: counterfoil-server branding show --data-dir <data-dir> [--json]

            OPTIONS:
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)

    private static let brandingEdit = HelpText(
        command: ["branding", "edit"],
        text: #"""
            OVERVIEW: Change the look of the pages, or what the service says on the consent
            page.

            Only what is given changes, and an empty value clears: --support-uri "". The
            text and the privacy policy are those of the service, shown beside those of the
            application. They are of one language; what a language lacks is shown in
            English. The picture is chosen at /admin/branding.

            Example:
              counterfoil-server branding edit --language nb --consent-text words.md \
                --privacy-uri https://example.com/personvern --data-dir ./data

            USAGE: counterfoil-server branding edit [--name <name>] [--accent <accent>] [--support-uri <support-uri>] \#
            [--consent-text <file.md>] [--privacy-uri <privacy-uri>] [--language <language>] --data-dir <data-dir> [--json]

            OPTIONS:
              --name <name>           The name of the service, 1 to 60 characters.
              --accent <accent>       The colour of buttons and links, such as #2352c5.
              --support-uri <support-uri>
                                      Where people get help: an https address or mailto:.
              --consent-text <file.md>
                                      A file with the words of the service for the consent
                                      page, in Markdown.
              --privacy-uri <privacy-uri>
                                      The https address of the privacy policy of the
                                      service.
              --language <language>   The language of the text and the privacy policy: en,
                                      de, nb, fr or es. (default: en)
              --data-dir <data-dir>   The data directory; made by the first command that
                                      writes.
              --json                  Print JSON for programs instead of words for people.
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
