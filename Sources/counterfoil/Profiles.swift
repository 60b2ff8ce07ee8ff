import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil profiles` lists the stored sign-ins.
struct Profiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "List the sign-ins stored on this device, without their tokens.",
        discussion: """
            Example:
              counterfoil profiles

            \(ExitStatus.help)
            """
    )

    @OptionGroup var storeOption: StoreOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = output.console
        try await console.run {
            let chosen = try CommonOptions.defaultProfile() ?? .standard
            let profiles = try await storeOption.open(console).store.profiles().map {
                Listed($0, isDefault: $0.name == chosen)
            }
            if output.json { return try console.result(profiles) }
            if profiles.isEmpty { console.say("No user is signed in; run: counterfoil login") }
            for profile in profiles { try console.result(profile.line) }
        }
    }
}

/// A stored sign-in as the command lists it, without its tokens.
private struct Listed: Encodable {
    let profile: String
    /// Whether commands without --profile use it.
    let `default`: Bool
    /// Whether the access token is valid or can be renewed; nil if the record cannot be read.
    var good: Bool?
    var issuer: String?
    var client_id: String?
    var scope: String?
    var subject: String?
    var name: String?
    var expires_at: Date?
    /// The reason why the record cannot be read.
    var error: String?

    init(_ stored: StoredProfile, isDefault: Bool) {
        profile = stored.name.rawValue
        `default` = isDefault
        switch stored.content {
        case .failure(let failure): error = "\(failure)"
        case .success(let signIn):
            good = signIn.isGood()
            issuer = signIn.issuer.rawValue
            client_id = signIn.clientID.rawValue
            scope = signIn.scope.description
            subject = signIn.user?.subject
            name = signIn.user?.name ?? signIn.user?.email
            expires_at = signIn.expires
        }
    }

    var line: String {
        let profile = `default` && profile != ProfileName.standard.rawValue ? "\(profile) (default)" : profile
        guard let issuer, let client_id else { return "\(profile): \(error ?? "the record cannot be read")" }
        let who = (name ?? subject).map { "\($0) at " } ?? ""
        let permissions = (scope ?? "").isEmpty ? "" : ", \(scope ?? "")"
        return "\(profile): \(who)\(issuer) (\(client_id)\(permissions))" + (good == false ? ", expired" : "")
    }
}
