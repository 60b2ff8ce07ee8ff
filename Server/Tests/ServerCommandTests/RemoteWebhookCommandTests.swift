import Foundation
import TestSupport
import Testing

/// `webhook` over the administration API: the commands print what they print on the store.
@Suite(.timeLimit(.minutes(10)))
struct RemoteWebhookCommandTests {
    private static let create = [
        "webhook", "create", "https://hooks.invalid/events", "--label", "Photos", "--type", "user.created",
    ]

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// The parts of the output that differ between two webhooks, and between two times.
    private static var own: Regex<Substring> {
        #/wh_\w+|secret: \S+|until: \S+|"(?:secret|created_at|former_secret_until)":"[^"]+"|"cursor":\d+/#
    }

    /// Creates two webhooks on the store and two over the API, and returns their identifiers, oldest first.
    private static func webhooks(of server: RemoteServer) async throws -> [String] {
        let created = try await server.compare(create + ["--json"], ignoring: own)
        #expect((try object(created.output)["secret"] as? String)?.hasPrefix("whsec_") == true)
        try await server.compare(create, ignoring: own)
        try await server.compare(["webhook", "list", "--json"], ignoring: own)
        let list = try await server.compare(["webhook", "list"])
        let ids = list.output.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        try #require(ids.count == 4)
        return ids
    }

    @Test func `webhooks are managed over the API`() async throws {
        try await RemoteServer.run(["events:read", "events:write"]) { server in
            #expect(try await server.compare(["webhook", "list"]).output == "There are no webhooks.\n")
            let ids = try await Self.webhooks(of: server)
            func compare(_ command: String, _ options: [String] = []) async throws {
                try await server.compare(
                    ["webhook", command, ids[1]] + options, onStore: [ids[1]: ids[0]], ignoring: Self.own)
            }
            for options in [[], ["--json"]] {
                try await compare("show", options)
                // While a webhook is paused, no delivery changes it.
                try await compare("pause", options)
                try await compare("edit", ["--all-types", "--label", "Library"] + options)
                try await compare("edit", ["--default-types"] + options)
                try await compare("edit", ["--type", "user.created", "--url", "https://hooks.invalid/v2"] + options)
                try await compare("replay", ["--since", "2026-01-02"] + options)
                try await compare("resume", options)
                try await compare("rotate-secret", ["--overlap-hours", "2"] + options)
            }
            let shown = try await server.run(["webhook", "show", ids[1]])
            #expect(shown.output.contains("  url: https://hooks.invalid/v2\n  types: user.created\n  state: active\n"))
            try await compare("delete")
            #expect(!(try await server.compare(["webhook", "list"]).output.contains("Library")))
        }
    }

    @Test func `an event of a delivery is sent again over the API`() async throws {
        try await RemoteServer.run(["events:read", "events:write"]) { server in
            #expect(try await server.run(Self.create).status == 0)
            let list = try await server.run(["webhook", "list"]).output
            let id = String(try #require(list.split(separator: " ").first))
            try await server.site.add(.alice)
            let event = try await Waiting.until("the first delivery", within: .seconds(120)) {
                () async throws -> String? in
                let shown = try Self.object(try await server.run(["webhook", "show", id, "--json"]).output)
                return (shown["deliveries"] as? [[String: Any]])?.first?["event"] as? String
            }
            let sent = try await server.run(["webhook", "resend", id, event])
            #expect(
                sent.output == "Queued \(event). See the result with: counterfoil-server webhook show \(id)\n",
                "\(sent.errors)")
            #expect(
                try await server.run(["webhook", "resend", id, event, "--json"]).output == "{\"queued\":\"\(event)\"}\n"
            )
            let deleted = try await server.run(["webhook", "delete", id, "--json"])
            #expect(try Self.object(deleted.output)["id"] as? String == id)
        }
    }

    @Test func `a refused webhook, a missing one and a token without the scope are errors`() async throws {
        try await RemoteServer.run(["events:read", "events:write"]) { server in
            let id = try await Self.webhooks(of: server)[0]
            let refused = try await server.compare(
                ["webhook", "create", "http://hooks.invalid/", "--label", "Photos"], status: 3)
            #expect(refused.errors.hasPrefix("counterfoil-server: the URL: "), "\(refused.errors)")
            try await server.compare(["webhook", "resend", id, "evt_1"], status: 3)
            for command in [["show"], ["edit", "--label", "A"], ["pause"], ["resume"], ["rotate-secret"], ["delete"]] {
                let missing = try await server.compare(
                    ["webhook", command[0], "wh_1"] + command.dropFirst(), status: 3)
                #expect(missing.errors.contains("there is no webhook wh_1"), "\(missing.errors)")
            }
            let reader = try await server.limited(to: ["events:read"])
            let ended = try await reader.run(["webhook", "pause", id])
            #expect(ended.status == 3 && ended.errors.contains("counterfoil.admin.events:write"), "\(ended.errors)")
            #expect(try await reader.run(["webhook", "show", id]).output.contains("  state: active\n"))
        }
    }
}
