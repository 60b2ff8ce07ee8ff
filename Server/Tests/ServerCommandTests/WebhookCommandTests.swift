import Foundation
import TestSupport
import Testing

/// `webhook` and `events`, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct WebhookCommandTests {
    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `a webhook is created, changed and deleted while a server runs, which makes its events readable`()
        async throws
    {
        try await Site.runEmpty { site in
            let created = try await site.administer([
                "webhook", "create", "https://hooks.invalid/events", "--label", "Photos", "--type", "user.created",
                "--json",
            ])
            #expect(created.status == 0)
            let webhook = try Self.object(created.output)
            let id = try #require(webhook["id"] as? String)
            let secret = try #require(webhook["secret"] as? String)
            #expect(secret.hasPrefix("whsec_"))
            let list = try await site.administer(["webhook", "list"])
            #expect(list.output == "\(id)  active  https://hooks.invalid/events  Photos\n")
            #expect(try await site.administer(["webhook", "pause", id]).output == "Paused \(id).\n")
            #expect(try await site.administer(["webhook", "pause", id]).status == 0)
            #expect(try await site.administer(["webhook", "resume", id]).status == 0)
            let edited = try await site.administer([
                "webhook", "edit", id, "--all-types", "--label", "Library", "--json",
            ])
            let types = try #require(try Self.object(edited.output)["types"] as? [String])
            #expect(types.contains("request.refused") && types.contains("user.created"))
            let usual = try await site.administer(["webhook", "edit", id, "--default-types", "--json"])
            #expect(try Self.object(usual.output)["types"] as? [String] == [])
            let rotated = try await site.administer(["webhook", "rotate-secret", id, "--overlap-hours", "2", "--json"])
            let replaced = try Self.object(rotated.output)
            #expect((replaced["secret"] as? String).map { $0 != secret } == true)
            #expect(replaced["former_secret_until"] != nil)
            #expect(try await site.administer(["webhook", "replay", id, "--since", "2h"]).status == 0)
            #expect(try await site.administer(["webhook", "show", id]).output.contains("  state: active\n"))
            #expect(try await site.administer(["webhook", "resend", id, "evt_1"]).status == 3)
            #expect(try await site.administer(["webhook", "delete", id]).output == "Deleted \(id).\n")
            #expect(try await site.administer(["webhook", "list"]).output == "There are no webhooks.\n")
            for (command, status) in [
                (["create", "http://hooks.invalid/", "--label", "A"], Int32(3)),
                (["create", "https://hooks.invalid/", "--label", "A", "--type", "nothing"], 64),
                (["show", "wh_1"], 3), (["edit", id], 64), (["replay", id, "--since", "never"], 64),
            ] {
                #expect(try await site.administer(["webhook"] + command).status == status, "\(command)")
            }
            // The server seals the events within some seconds.
            let lines = try await Waiting.until("the events of the webhook") { () async throws -> [String]? in
                let events = try await site.administer([
                    "events", "--type", "webhook.created", "--type", "webhook.deleted",
                ])
                let lines = events.output.split(separator: "\n").map(String.init)
                return lines.count == 2 ? lines : nil
            }
            let events = try lines.map(Self.object)
            #expect(events.map { $0["type"] as? String } == ["webhook.created", "webhook.deleted"])
            let cursor = try #require(events[0]["cursor"] as? Int)
            let rest = try await site.administer([
                "events", "--after", "\(cursor)", "--type", "webhook.created", "--type", "webhook.deleted",
            ])
            #expect(rest.output == lines[1] + "\n")
            #expect(try await site.administer(["events", "--after", "999999999"]).status == 3)
        }
    }
}
