import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The commands for unregistered apps, and for the policy.
@Suite(.timeLimit(.minutes(10)))
struct UnregisteredCommandTests {
    private static let url = "https://app.example.com/client.json"

    /// Stores apps as a running server does.
    static func store(
        _ urls: [String], for scope: String = "openid", in site: TestSupport.Site
    ) async throws {
        let path = URL(fileURLWithPath: site.dataDirectory).appendingPathComponent("counterfoil.db").path
        let store = try SQLiteStore(at: path)
        for url in urls {
            let client = RegisteredClient(
                id: try #require(ClientIdentifier(url)), type: .native,
                presentation: ClientPresentation(name: "Album"),
                redirectURIs: [try RedirectURI("http://127.0.0.1/callback")], scope: try Scope(parsing: scope),
                source: .document(Array("{}".utf8)), policy: .standard(for: .native),
                createdAt: Date(timeIntervalSince1970: 1_800_000_000))
            #expect(try await store.addClient(client) == .added)
        }
        await store.close()
    }

    @Test func `the policy accepts nothing at first, and each option changes one field`() async throws {
        try await TestSupport.Site.make { site in
            #expect(try await site.administer(["unregistered", "show"]).status == 3)
            try await site.addScope("photos.read", "See your photos and albums")
            #expect(
                try await site.administer(["unregistered", "show"]).output == """
                    kinds: none
                    allowed_hosts: every host
                    refused_hosts: none
                    default_scope: none
                    maximum_scope: every scope in the metadata
                    resources: every API
                    refresh_tokens: offline-access
                    access_token_lifetime: server default
                    refresh_idle_lifetime: server default
                    refresh_lifetime: server default
                    approvers: everyone
                    require_initial_access_token: no

                    """)
            let edited = try await site.administer([
                "unregistered", "edit", "--accept", "documents", "--allowed-host", "*.example.com", "--maximum-scope",
                "openid photos.read", "--default-scope", "photos.read", "--approvers", "administrators",
                "--access-token-lifetime", "600", "--require-initial-access-token", "true", "--json",
            ])
            #expect(
                edited.output == #"""
                    {"access_token_lifetime":600,"allowed_hosts":["*.example.com"],"approvers":"administrators",\#
                    "default_scope":["photos.read"],"kinds":"documents","maximum_scope":["openid","photos.read"],\#
                    "refresh_tokens":"offline-access","refused_hosts":[],"require_initial_access_token":true}

                    """#)
            let cleared = try await site.administer([
                "unregistered", "edit", "--maximum-scope", "", "--allowed-host", "", "--default-scope", "",
                "--access-token-lifetime", "",
            ])
            #expect(cleared.output.contains("maximum_scope: every scope in the metadata\n"))
            #expect(cleared.output.contains("allowed_hosts: every host\n"))
            #expect(cleared.output.contains("kinds: documents\n"))
            let events = try await site.administer(["audit", "list", "--kind", "setting", "--json"]).output
            #expect(events.contains("unregistered apps: kinds documents, allowed_hosts *.example.com"))
        }
    }

    private static let refused: [(arguments: [String], status: Int32, reason: String)] = [
        (["--accept", "all"], 3, "--accept: Choose none"),
        (["--allowed-host", "https://a.example"], 3, "--allowed-host: "),
        (["--default-scope", "nothing"], 3, "--default-scope: "), (["--api", "https://a.example"], 3, "--api: "),
        (["--access-token-lifetime", "5"], 3, "--access-token-lifetime: Enter 60"),
        (["--refresh-lifetime", "long"], 3, "--refresh-lifetime: It must be an integer"),
        (["--approvers", "bob"], 3, "--approvers: "),
        (["--require-initial-access-token", "maybe"], 64, "true or false"), ([], 64, "at least one change"),
    ]

    @Test(arguments: refused)
    func `an invalid policy is refused with its field`(
        arguments: [String], status: Int32, reason: String
    ) async throws {
        try await TestSupport.Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let ended = try await site.administer(["unregistered", "edit"] + arguments)
            #expect(ended.status == status)
            #expect(ended.output.isEmpty && ended.errors.contains(reason), "\(ended.errors)")
        }
    }

    @Test func `apps are listed by host and deleted, one or all of a host`() async throws {
        try await TestSupport.Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            #expect(
                try await site.administer(["unregistered", "list"]).output == "There are no unregistered apps.\n")
            try await Self.store(
                [Self.url, "https://app.example.com/2", "https://app.example.com/3", "https://b.example/x"],
                in: site)
            #expect(
                try await site.administer(["unregistered", "list"]).output
                    == "app.example.com  3 of 3 unused\nb.example  1 of 1 unused\n")
            let search = ["unregistered", "list", "--search"]
            #expect(try await site.administer(search + ["B."]).output == "b.example  1 of 1 unused\n")
            #expect(try await site.administer(search + ["\(Self.url)x"]).output == "app.example.com  3 of 3 unused\n")
            #expect(try await site.administer(search + ["c"]).output == "There is no such host.\n")
            #expect(try await site.administer(search + [""]).errors.contains("--search"))
            #expect(try await site.administer(search + ["b", "--registrations"]).status == 64)
            let listed = try await site.administer(["unregistered", "list", "--host", "B.example"])
            #expect(listed.output == "https://b.example/x  Album  0 users, never used\n")
            let json = try await site.administer(["unregistered", "list", "--host", "b.example", "--json"])
            #expect(
                json.output == #"""
                    [{"client_id":"https://b.example/x","client_name":"Album","first_seen":"2027-01-15T08:00:00Z",\#
                    "scope":"","users":0}]

                    """#)
            let family = ["unregistered", "list", "--host", "app.example.com"]
            let apps = try await site.administer(family).output.split(separator: "\n").compactMap {
                $0.split(separator: " ").first.map(String.init)
            }
            #expect(apps.count == 3)
            let first = try await site.administer(family + ["--limit", "1"])
            let rest = try await site.administer(family + ["--after", try #require(apps.first), "--json"])
            #expect(first.output.hasPrefix("\(apps[0])  ") && !first.output.contains(apps[1]))
            #expect(!rest.output.contains("\"\(apps[0])\"") && rest.output.contains("\"\(apps[2])\""))
            let unknown = try await site.administer(family + ["--after", "https://app.example.com/none"])
            #expect(unknown.status == 3 && unknown.errors.contains("--after: There is no such unregistered client"))
            #expect(try await site.administer(["app", "list"]).output.hasPrefix("No app is registered."))
            for command in ["show", "edit", "delete"] {
                let changes = command == "edit" ? ["--name", "Mine"] : []
                let ended = try await site.administer(["app", command, Self.url] + changes)
                #expect(ended.status == 3 && ended.errors.contains("unregistered --help"))
            }

            let deleted = try await site.administer(["unregistered", "delete", "https://app.example.com/2"])
            #expect(
                deleted.output == """
                    Deleted Album, https://app.example.com/2, with all consent that users gave to it.

                    """)
            #expect(try await site.administer(["unregistered", "delete", "https://app.example.com/2"]).status == 3)
            let host = try await site.administer([
                "unregistered", "delete-host", "App.example.com", "--refuse", "--json",
            ])
            #expect(host.output == #"{"deleted":2,"host":"app.example.com","refused":true}"# + "\n")
            #expect(try await site.administer(["unregistered", "list"]).output == "b.example  1 of 1 unused\n")
            #expect(
                try await site.administer(["unregistered", "show"]).output.contains("refused_hosts: app.example.com\n"))
            #expect(try await site.administer(["unregistered", "delete-host", "*.example"]).status == 64)
            #expect(try await site.administer(["unregistered", "list", "--host", "*.example"]).status == 64)
            let none = try await site.administer(["unregistered", "delete-host", "app.example.com"])
            #expect(none.output == "Deleted 0 apps of app.example.com.\n", "\(none.errors)")
        }
    }

    @Test func `a host is not refused beyond the limit of the policy, and no app is deleted`() async throws {
        try await TestSupport.Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            try await Self.store([Self.url], in: site)
            let hosts = (0..<200).flatMap { ["--refused-host", "host\($0).example"] }
            #expect(try await site.administer(["unregistered", "edit"] + hosts).status == 0)
            let full = try await site.administer(["unregistered", "delete-host", "app.example.com", "--refuse"])
            #expect(full.status == 3)
            #expect(full.errors.contains("--refuse: The policy already refuses 200 hosts, the maximum; nothing was"))
            #expect(
                try await site.administer(["unregistered", "list"]).output == "app.example.com  1 of 1 unused\n")
            let deleted = try await site.administer(["unregistered", "delete-host", "app.example.com"])
            #expect(deleted.output == "Deleted 1 apps of app.example.com.\n")
        }
    }

    @Test func `an app with a document becomes a registered app, which is then edited`() async throws {
        try await TestSupport.Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let none = try await site.administer(["unregistered", "adopt", Self.url])
            #expect(none.status == 3 && none.errors.contains("there is no unregistered app"))
            try await Self.store([Self.url], for: "openid photos.read", in: site)
            // The app was stored under a policy that allowed more.
            let narrowed = try await site.administer([
                "unregistered", "edit", "--maximum-scope", "openid", "--access-token-lifetime", "300",
            ])
            #expect(narrowed.status == 0)
            let adopted = try await site.administer(["unregistered", "adopt", Self.url, "--json"])
            #expect(adopted.status == 0 && adopted.output.contains(Self.url))
            #expect(adopted.output.contains(#""scope":"openid""#))
            #expect(adopted.output.contains(#""access_token_lifetime":300"#))
            let edited = try await site.administer(["app", "edit", Self.url, "--name", "Album Two"])
            #expect(edited.status == 0)
            #expect(try await site.administer(["app", "list"]).output == "\(Self.url)  native  Album Two\n")
            let again = try await site.administer(["unregistered", "adopt", Self.url])
            #expect(again.status == 3 && again.errors.contains("is registered"))
        }
    }

    // The server then never reads the document, so the app works before its document exists.
    @Test func `an app is registered under the URL of its document`() async throws {
        try await TestSupport.Site.make { site in
            let create = [
                "app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri",
                "http://127.0.0.1/callback", "--client-id",
            ]
            let created = try await site.administer(create + [Self.url])
            #expect(created.status == 0)
            #expect(try await site.administer(["app", "list"]).output == "\(Self.url)  native  Lightbox\n")
            for url in ["http://app.example.com/client.json", "https://app.example.com", "https://10.0.0.1/client"] {
                let ended = try await site.administer(create + [url])
                #expect(ended.status == 64)
                #expect(ended.errors.hasPrefix("Error: --client-id: a client_id that is a URL must be"))
            }
        }
    }

    @Test func `the switch of the server is none, documents, registration or both`() async throws {
        try await TestSupport.Site.make { site in
            let ended = try await RunningProgram(
                .server,
                [
                    "serve", "--data-dir", site.dataDirectory, "--issuer", site.issuer, "--listen", "127.0.0.1:0",
                    "--unregistered-clients", "all",
                ], in: site.folder
            ).ended()
            #expect(ended.status == 64)
            #expect(ended.errors.contains("--unregistered-clients"))
        }
    }
}
