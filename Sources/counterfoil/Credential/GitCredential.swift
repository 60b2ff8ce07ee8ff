import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil credential git` is a credential helper of git (gitcredentials(7)).
struct GitCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git",
        abstract: "Pass the token to git.",
        discussion: """
            git sends the access token as the password, over https or to this device. To a server that challenges with \
            Bearer, git 2.46 and newer sends it as a Bearer token. A token that the server rejects is refreshed before the \
            next command. For other servers, git asks its other helpers or the user.

            Examples:
              counterfoil login https://id.example.com --client-id git \\
                --api https://git.example.com
              git config --global credential.https://git.example.com.helper \\
                '!counterfoil credential git'

            \(ExitStatus.help)
            """
    )

    /// The operation that git asks for; git may define others, which a helper ignores.
    @Argument(help: ArgumentHelp("The operation: get, store or erase.", valueName: "operation"))
    var operation: String

    @Option(
        help: ArgumentHelp(
            "The user name for the server. (default: that of the URL, or \(PassedToken.userName))", valueName: "name"))
    var username: String?

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let request = GitCredentialRequest(try RequestOnStandardInput.read())
            switch operation {
            case "get": try await get(request, console)
            case "erase": try await erase(request)
            default: return
            }
        }
    }

    private func get(_ request: GitCredentialRequest, _ console: CommandOutput) async throws {
        guard let server = request.server else { return console.detail("git does not ask for a server with https") }
        let passed: PassedToken
        do {
            passed = try await PassedToken.token(for: server, target.value, common)
        } catch let refusal as ResourceClient.Refusal {
            // Without output, git asks the next helper.
            return console.detail("\(refusal)")
        }
        let token = passed.credentials.accessToken.exposed
        var attributes =
            request.takesBearerToken
            ? ["capability[]=authtype", "authtype=Bearer", "credential=\(token)", "ephemeral=1"]
            : ["username=\(username ?? request.userName ?? PassedToken.userName)", "password=\(token)"]
        if let expires = passed.credentials.expires {
            attributes.append("password_expiry_utc=\(Int64(expires.timeIntervalSince1970))")
        }
        for attribute in attributes { try console.result(attribute) }
    }

    /// Expires the token that a server has rejected; the sign-in stays.
    private func erase(_ request: GitCredentialRequest) async throws {
        guard let server = request.server else { return }
        let store = try await common.openStore().store
        guard let stored = try await store.credentials(of: common.profile) else { return }
        let target = PassedToken.target(for: server, target.value, of: stored)
        do { try stored.check(server, for: target) } catch { return }
        // `git credential reject` without a password rejects any.
        let rejected = request.password.map { AccessToken($0) } ?? stored.storedToken(for: target)
        guard let rejected else { return }
        try await store.expire(rejected, of: common.profile)
    }
}

/// The attributes that git writes, one on each line (git-credential(1), "INPUT/OUTPUT FORMAT").
struct GitCredentialRequest {
    private var values: [String: String] = [:]
    private var lists: [String: [String]] = [:]

    /// Parses the attributes up to the first empty line; ignores lines without `=`.
    init(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard !line.isEmpty else { return }
            guard let sign = line.firstIndex(of: "=") else { continue }
            let (name, value) = (String(line[..<sign]), String(line[line.index(after: sign)...]))
            // An empty value clears the list.
            guard name.hasSuffix("[]") else {
                values[name] = value
                continue
            }
            lists[name] = value.isEmpty ? [] : lists[name, default: []] + [value]
        }
    }

    /// The origin of the git server; nil unless it is https, or http on this device.
    var server: EndpointURL? {
        guard let scheme = values["protocol"], let host = values["host"],
            let origin = try? APIOrigin("\(scheme)://\(host)")
        else { return nil }
        return try? EndpointURL(origin.rawValue)
    }

    /// `username`: the user name in the URL or in the configuration; nil if there is none.
    var userName: String? { values["username"].flatMap { $0.isEmpty ? nil : $0 } }

    /// `password` or `credential`: the rejected token.
    var password: String? { values["password"] ?? values["credential"] }

    /// Whether the server challenges with Bearer, and git can send a Bearer token.
    var takesBearerToken: Bool {
        (lists["capability[]"] ?? []).contains("authtype")
            && (lists["wwwauth[]"] ?? []).contains { $0.lowercased().prefix { $0 != " " } == "bearer" }
    }
}
