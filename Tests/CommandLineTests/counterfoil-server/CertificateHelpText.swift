extension HelpText {
    /// The help of the commands for the certificate that an authority issues.
    static let certificates = [certificate, certificateShow, certificateRenew]

    private static let certificate = HelpText(
        command: ["certificate"],
        text: #"""
            OVERVIEW: Show or renew the certificate that the server orders itself.

            USAGE: counterfoil-server certificate <subcommand>

            OPTIONS:
              --version               Show the version.
              -h, --help              Show help information.

            SUBCOMMANDS:
              show                    Show the certificate that an authority has issued,
                                      and failed orders.
              renew                   Request a new certificate from the authority.

              See 'counterfoil-server help certificate <subcommand>' for detailed help.

            """#)

    private static let certificateShow = HelpText(
        command: ["certificate", "show"],
        text: #"""
            OVERVIEW: Show the certificate that an authority has issued, and failed orders.

            Example:
              counterfoil-server certificate show --data-dir ./data

            USAGE: counterfoil-server certificate show [--data-dir <directory>] [--database <uri>] \#
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

    private static let certificateRenew = HelpText(
        command: ["certificate", "renew"],
        text: #"""
            OVERVIEW: Request a new certificate from the authority.

            A running server orders it within some seconds, whatever the age of the current
            certificate is, and even if orders have failed before. Use it if the key of the
            certificate has leaked, or once the cause of failed orders is corrected.
            Authorities limit the number of orders: Let's Encrypt issues five certificates
            with the same names in a week.

            Example:
              counterfoil-server certificate renew --data-dir ./data

            USAGE: counterfoil-server certificate renew [--data-dir <directory>] [--database <uri>] \#
            [--server-key-file <file>] [--config <file>]

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
              --version               Show the version.
              -h, --help              Show help information.


            """#)
}
