import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil credential kubectl` is a credential plugin of kubectl (ExecCredential of client.authentication.k8s.io).
struct KubernetesCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubectl",
        abstract: "Pass the token to kubectl and other Kubernetes clients.",
        discussion: """
            The API server gets the access token, or with --id-token the ID token, which API servers with OpenID Connect \
            verify (--oidc-issuer-url). The API server must be one of the APIs of the sign-in, so the configuration has to name it to \
            this command (provideClusterInfo).

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

            \(ExitStatus.help)
            """
    )

    @Flag(name: .customLong("id-token"), help: "Pass the ID token instead of the access token.")
    var passesIDToken = false

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if passesIDToken { try target.requireNone("omit them with --id-token") }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            let request = try ExecCredentialRequest(ProcessInfo.processInfo.environment["KUBERNETES_EXEC_INFO"])
            let status: ExecCredential.Status
            if passesIDToken {
                let passed = try await PassedIDToken.token(for: request.server, common)
                status = .init(expirationTimestamp: passed.expires, token: passed.token.exposed)
            } else {
                let passed = try await PassedToken.token(for: request.server, target.value, common).credentials
                status = .init(expirationTimestamp: passed.expires, token: passed.accessToken.exposed)
            }
            try console.result(compact: ExecCredential(apiVersion: request.apiVersion, status: status))
        }
    }
}

/// The request of kubectl, in the environment variable `KUBERNETES_EXEC_INFO`.
private struct ExecCredentialRequest {
    /// The version of the request, in which kubectl expects the answer.
    let apiVersion: String
    /// `spec.cluster.server`: the URL of the API server.
    let server: EndpointURL

    private static let group = "client.authentication.k8s.io"

    private struct Wire: Decodable {
        struct Spec: Decodable {
            let cluster: Cluster?
        }
        struct Cluster: Decodable {
            let server: String
            let skipsVerification: Bool?

            enum CodingKeys: String, CodingKey {
                case server
                case skipsVerification = "insecure-skip-tls-verify"
            }
        }
        let apiVersion: String
        let spec: Spec?
    }

    init(_ text: String?) throws(Failure) {
        guard let text, let wire = try? JSONDecoder().decode(Wire.self, from: Data(text.utf8)) else {
            throw Failure(
                .usage,
                "kubectl starts this command, with its request in KUBERNETES_EXEC_INFO; this value is no request")
        }
        guard ["\(Self.group)/v1", "\(Self.group)/v1beta1"].contains(wire.apiVersion) else {
            throw Failure(
                .usage, "kubectl asks for a credential of the version \(wire.apiVersion); configure \(Self.group)/v1")
        }
        guard let cluster = wire.spec?.cluster else {
            throw Failure(
                .usage, "kubectl does not name the API server; add provideClusterInfo: true to the exec configuration")
        }
        guard cluster.skipsVerification != true else {
            throw Failure(
                .unsafe,
                "the cluster has insecure-skip-tls-verify, so another server could receive the token; configure its certificate-authority"
            )
        }
        server = try Failure.usage("the URL of the API server cannot be used: ") { try EndpointURL(cluster.server) }
        apiVersion = wire.apiVersion
    }
}

/// The answer to kubectl.
private struct ExecCredential: Encodable {
    struct Status: Encodable {
        let expirationTimestamp: Date?
        let token: String
    }
    let apiVersion: String
    let kind = "ExecCredential"
    let status: Status
}
