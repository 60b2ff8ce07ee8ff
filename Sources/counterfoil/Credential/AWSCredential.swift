import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil credential aws` is a credential process of the AWS command line and SDKs (`credential_process`).
struct AWSCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aws",
        abstract: "Pass temporary credentials of a role to the AWS command line and SDKs.",
        discussion: """
            The Security Token Service (STS) exchanges the ID token for credentials of the role \
            (AssumeRoleWithWebIdentity). The trust policy of the role must name the issuer and the client ID. The STS must \
            be one of the APIs of the sign-in.

            Examples:
              counterfoil login https://id.example.com --client-id aws --scope openid \\
                --api https://sts.amazonaws.com
              aws configure set profile.work.credential_process \\
                "counterfoil credential aws --role-arn arn:aws:iam::123456789012:role/dev"

            \(ExitStatus.help)
            """
    )

    @Option(name: .customLong("role-arn"), help: ArgumentHelp("The role to assume.", valueName: "arn"))
    var role: String

    @Option(help: ArgumentHelp("The name of the session in the logs of AWS.", valueName: "name"))
    var sessionName = "counterfoil"

    @Option(
        name: .customLong("sts-endpoint"),
        help: ArgumentHelp("The URL of the Security Token Service.", valueName: "url"))
    var endpoint = "https://sts.amazonaws.com/"

    @Option(help: ArgumentHelp("The lifetime of the credentials. (default: that of the STS)", valueName: "seconds"))
    var duration: Int?

    @Flag(name: .customLong("access-token"), help: "Send the access token instead of the ID token.")
    var sendsAccessToken = false

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if !sendsAccessToken { try target.requireNone("use them with --access-token") }
        guard (20...2048).contains(role.utf8.count), role.hasPrefix("arn:") else {
            throw ValidationError("--role-arn must be the ARN of a role, as in arn:aws:iam::123456789012:role/photos.")
        }
        let isName = sessionName.utf8.allSatisfy { byte in
            let isLetterOrDigit = (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
            return isLetterOrDigit || "_+=,.@-".utf8.contains(byte)
        }
        guard (2...64).contains(sessionName.utf8.count), isName else {
            throw ValidationError("--session-name consists of 2 to 64 letters, digits, and the characters _+=,.@-")
        }
        if let duration, !(900...43200).contains(duration) {
            throw ValidationError("--duration must be a number of seconds from 900 to 43200.")
        }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            let service = try Failure.usage("--sts-endpoint: ") { try EndpointURL(endpoint) }
            let token =
                sendsAccessToken
                ? try await PassedToken.token(for: service, target.value, common).credentials.accessToken.exposed
                : try await PassedIDToken.token(for: service, common).token.exposed
            let request = RoleRequest(
                service: service, role: role, sessionName: sessionName, duration: duration, token: token)
            try console.result(compact: Answer(try await request.credentials()))
        }
    }

    /// The output of a credential process.
    private struct Answer: Encodable {
        let Version = 1
        let AccessKeyId: String
        let SecretAccessKey: String
        let SessionToken: String
        let Expiration: String

        init(_ credentials: RoleCredentials) {
            AccessKeyId = credentials.accessKeyID
            SecretAccessKey = credentials.secretAccessKey
            SessionToken = credentials.sessionToken
            Expiration = credentials.expiration
        }
    }
}
