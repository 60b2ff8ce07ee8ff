import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil profiles` lists the stored sign-ins.
struct Profiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the sign-ins stored on this device, without their tokens.",
        discussion: """
            Example:
              counterfoil profiles

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let profiles = try await common.openStore().store.profiles()
            if common.json { return try console.result(profiles.map(Listed.init)) }
            if profiles.isEmpty { console.say("No user is signed in; run: counterfoil login") }
            for profile in profiles { console.result(Listed(profile).line) }
        }
    }
}

/// A stored sign-in as the command lists it, without its tokens.
private struct Listed: Encodable {
    let profile: String
    let issuer: String
    let client_id: String
    let scope: String
    let subject: String?
    let name: String?
    let expires_at: Date?

    init(_ stored: StoredProfile) {
        profile = stored.name.rawValue
        issuer = stored.issuer.rawValue
        client_id = stored.clientID.rawValue
        scope = stored.scope.description
        subject = stored.user?.subject
        name = stored.user?.name ?? stored.user?.email
        expires_at = stored.expires
    }

    var line: String {
        let who = (name ?? subject).map { "\($0) at " } ?? ""
        let permissions = scope.isEmpty ? "" : ", \(scope)"
        return "\(profile): \(who)\(issuer) (\(client_id)\(permissions))"
    }
}
