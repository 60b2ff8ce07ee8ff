import ArgumentParser

/// `counterfoil credential` passes tokens to other programs by their own protocols.
struct Credential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Pass the token to git, docker, kubectl or the AWS command line.",
        discussion: """
            Another program starts these commands. It gets a token only for a server whose origin was named with --api or \
            --resource at the sign-in, or for the issuer if none was named. If the sign-in names resources at several \
            servers, the access token is for those at this server only. A token that is bound to a key (--dpop) is not \
            passed on.

            \(ExitStatus.help)
            """,
        subcommands: [GitCredential.self, DockerCredential.self, KubernetesCredential.self, AWSCredential.self]
    )
}
