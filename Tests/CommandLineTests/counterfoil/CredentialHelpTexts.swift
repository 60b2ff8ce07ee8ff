/// The help of `counterfoil credential` and its subcommands, whole, on a terminal of 80 columns.
enum CredentialHelpTexts {
    static let expected: [String: String] = [
        "": overview, "git": git, "docker": docker, "kubectl": kubectl, "aws": aws,
    ]

    private static let overview = """
        OVERVIEW: Pass the token to git, docker, kubectl or the AWS command line.

        Another program starts these commands. It gets a token only for a server whose
        origin was named with --api or --resource at the sign-in, or for the issuer if
        none was named. If the sign-in names resources at several servers, the access
        token is for those at this server only. A token that is bound to a key (--dpop)
        is not passed on.

        \(exitCodes)

        USAGE: counterfoil credential <subcommand>

        OPTIONS:
          --version               Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          git                     Pass the token to git.
          docker                  Pass the token to docker, podman or skopeo.
          kubectl                 Pass the token to kubectl and other Kubernetes
                                  clients.
          aws                     Pass temporary credentials of a role to the AWS
                                  command line and SDKs.

          See 'counterfoil help credential <subcommand>' for detailed help.

        """

    private static let git = """
        OVERVIEW: Pass the token to git.

        git sends the access token as the password, over https or to this device. To a
        server that challenges with Bearer, git 2.46 and newer sends it as a Bearer
        token. A token that the server rejects is refreshed before the next command.
        For other servers, git asks its other helpers or the user.

        Examples:
          counterfoil login https://id.example.com --client-id git \\
            --api https://git.example.com
          git config --global credential.https://git.example.com.helper \\
            '!counterfoil credential git'

        \(exitCodes)

        USAGE: counterfoil credential git <operation> [--username <name>] [--resource <uri> ...] [--scope <scope> ...] [--profile <name>] [--store \
        <store>] [--json] [--verbose]

        ARGUMENTS:
          <operation>             The operation: get, store or erase.

        OPTIONS:
          --username <name>       The user name for the server. (default: that of the
                                  URL, or oauth2)
        \(targetOptions)
        \(commonOptions)

        """

    private static let docker = """
        OVERVIEW: Pass the token to docker, podman or skopeo.

        The registry gets the access token as the password. Registries that expect an
        identity token, which their own token server takes as a refresh token, need
        --username '<token>'.

        docker starts a helper by the name docker-credential-NAME and passes only the
        operation. A link docker-credential-counterfoil to this program uses
        $COUNTERFOIL_PROFILE, or else the profile that names the registry as an API.
        For other options, write a script docker-credential-NAME that passes "$@" on.

        Examples:
          ln -s "$(command -v counterfoil)" ~/.local/bin/docker-credential-counterfoil
          echo '{"credHelpers": {"registry.example.com": "counterfoil"}}' \\
            >~/.docker/config.json
          counterfoil login https://id.example.com --client-id docker \\
            --api https://registry.example.com

        \(exitCodes)

        USAGE: counterfoil credential docker <operation> [--any-profile] [--username <name>] [--resource \
        <uri> ...] [--scope <scope> ...] [--profile <name>] [--store <store>] [--json] [--verbose]

        ARGUMENTS:
          <operation>             The operation. (values: get, list, store, erase,
                                  version)

        OPTIONS:
          --any-profile           Use the profile that names the registry as an API,
                                  instead of --profile.
          --username <name>       The user name for the registry. (default: oauth2)
        \(targetOptions)
        \(commonOptions)

        """

    private static let kubectl = """
        OVERVIEW: Pass the token to kubectl and other Kubernetes clients.

        The API server gets the access token, or with --id-token the ID token, which
        API servers with OpenID Connect verify (--oidc-issuer-url). The API server must
        be one of the APIs of the sign-in, so the configuration has to name it to this
        command (provideClusterInfo).

        Example, in ~/.kube/config:
          users:
          - name: work
            user:
              exec:
                apiVersion: client.authentication.k8s.io/v1
                command: counterfoil
                args: [credential, kubectl, --id-token]
                interactiveMode: Never
                provideClusterInfo: true

        \(exitCodes)

        USAGE: counterfoil credential kubectl [--id-token] [--resource <uri> ...] [--scope <scope> ...] [--profile <name>] [--store <store>] [--json] \
        [--verbose]

        OPTIONS:
          --id-token              Pass the ID token instead of the access token.
        \(targetOptions)
        \(commonOptions)

        """

    private static let aws = """
        OVERVIEW: Pass temporary credentials of a role to the AWS command line and
        SDKs.

        The Security Token Service (STS) exchanges the ID token for credentials of the
        role (AssumeRoleWithWebIdentity). The trust policy of the role must name the
        issuer and the client ID. The STS must be one of the APIs of the sign-in.

        Examples:
          counterfoil login https://id.example.com --client-id aws --scope openid \\
            --api https://sts.amazonaws.com
          aws configure set profile.work.credential_process \\
            "counterfoil credential aws --role-arn arn:aws:iam::123456789012:role/dev"

        \(exitCodes)

        USAGE: counterfoil credential aws --role-arn <arn> [--session-name <name>] [--sts-endpoint <url>] \
        [--duration <seconds>] [--access-token] [--resource <uri> ...] [--scope <scope> ...] [--profile <name>] [--store <store>] [--json] [--verbose]

        OPTIONS:
          --role-arn <arn>        The role to assume.
          --session-name <name>   The name of the session in the logs of AWS. (default:
                                  counterfoil)
          --sts-endpoint <url>    The URL of the Security Token Service. (default:
                                  https://sts.amazonaws.com/)
          --duration <seconds>    The lifetime of the credentials. (default: that of
                                  the STS)
          --access-token          Send the access token instead of the ID token.
        \(targetOptions)
        \(commonOptions)

        """

    private static let exitCodes = """
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
        """

    /// The options that narrow the access token.
    private static let targetOptions = """
          --resource <uri>        Request an access token for this API of the sign-in
                                  only. Can be repeated.
          --scope <scope>         Request an access token with only this part of the
                                  granted scope. Can be repeated.
        """

    /// The options that every command with a token store has.
    private static let commonOptions = """
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
}
