import Foundation
import TestSupport
import Testing

/// `user invite`, `user invitations` and `user withdraw`, and the settings of accounts that persons create.
@Suite(.timeLimit(.minutes(10)))
struct InvitationCommandTests {
    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    // The link is shown once; lists and events contain its id only.
    @Test func `a person is invited, listed and withdrawn`() async throws {
        try await Site.make { site in
            try await site.start(options: ["--sign-up", "invited"]).whileRunning {
                let invited = try await site.administer(
                    ["user", "invite", "--email", "ada@example.com", "--role", "owner", "--days", "2", "--json"])
                #expect(invited.status == 0, "\(invited.errors)")
                let document = try Self.object(invited.output)
                let link = try #require(document["link"] as? String)
                let secret = try #require(link.split(separator: "=").last.map(String.init))
                #expect(link.hasPrefix("\(site.issuer)/sign-up?invitation=") && secret.count == 43)
                #expect(document["email"] as? String == "ada@example.com" && document["mailed"] as? Bool == false)
                #expect(document["role"] as? String == "owner")
                let id = try #require(document["id"] as? String)
                let times = try ["created_at", "expires_at"].map { name in
                    try Date(try #require(document[name] as? String), strategy: .iso8601)
                }
                #expect(times[1].timeIntervalSince(times[0]) == 2 * 86_400)

                let plain = try await site.administer(["user", "invite"])
                #expect(plain.output.hasPrefix("\(site.issuer)/sign-up?invitation="))
                #expect(plain.errors.contains("The link is shown only once."))
                let list = try await site.administer(["user", "invitations"]).output
                #expect(list.contains("\(id)  expires 20") && list.contains("ada@example.com, owner"))
                #expect(!list.contains(secret))

                let withdrawn = try await site.administer(["user", "withdraw", String(id.prefix(6))])
                #expect(withdrawn.output == "Withdrew the invitation \(id).\n")
                let again = try await site.administer(["user", "withdraw", id])
                #expect(again.status == 3)
                #expect(again.errors.contains("there is no invitation with an id that starts with \(id)"))
                let events = try await site.administer(["audit", "list"]).output
                #expect(events.contains("created the invitation \(id), with the role owner"))
                #expect(events.contains("withdrew the invitation \(id)") && !events.contains(secret))
            }
        }
    }

    @Test func `a closed server, a taken address and an unknown app are refused`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let none = try await site.administer(["user", "invite"])
            #expect(none.status == 3 && none.errors.contains("no server has run with this data"))
            try await site.start(options: []).whileRunning {
                let closed = try await site.administer(["user", "invite"])
                #expect(closed.status == 3 && closed.errors.contains("Set sign-up to invited or open"))
            }
            try await site.start(options: ["--sign-up", "invited"]).whileRunning {
                let taken = try await site.administer(["user", "invite", "--email", Account.alice.email])
                #expect(taken.status == 3 && taken.errors.contains("has the email address"))
                let unknown = try await site.administer(["user", "invite", "--client", "app_nowhere"])
                #expect(unknown.status == 3 && unknown.errors.contains("there is no app"))
                let list = try await site.administer(["user", "invitations"])
                #expect(list.output.hasPrefix("There is no invitation."))
            }
        }
    }

    @Test(arguments: [
        ["invite", "--email", "ada"], ["invite", "--days", "0"], ["invite", "--days", "31"],
        ["invite", "--language", "xx"], ["withdraw", "3f9"],
    ])
    func `a wrong option is refused`(arguments: [String]) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["user"] + arguments)
            #expect(ended.status == 64)
        }
    }

    @Test(arguments: [
        (["--sign-up", "open"], "--sign-up open requires --mail-sender"),
        (["--terms-uri", "https://www.example.com/terms"], "--terms-uri requires --terms-version"),
        (["--terms-version", "1"], "--terms-version requires --terms-uri"),
    ])
    func `settings that need another one are refused at the start`(options: [String], message: String) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let settings = ["--issuer", "https://id.example.com", "--listen", "127.0.0.1:0", "--data-dir", "data"]
            let ended = try await RunningProgram(.server, ["serve"] + settings + options, in: folder).ended()
            #expect(ended.status != 0 && ended.errors.contains(message), "\(ended.errors)")
        }
    }
}
