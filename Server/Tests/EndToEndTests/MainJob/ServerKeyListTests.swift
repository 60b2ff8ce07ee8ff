@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

import struct TestSupport.Site

/// The part of `counterfoil-server key list` about former server keys.
@Suite(.timeLimit(.minutes(10)))
struct ServerKeyListTests {
    private struct Report: Decodable {
        struct ServerKey: Decodable {
            struct Need: Decodable {
                let kind: String
                let count: Int?
                let until: String?
                let last_used: String?
            }

            let fingerprint: String
            let state: String
            let needs: [Need]

            func count(_ kind: String) -> Int? { needs.first { $0.kind == kind }?.count }
        }

        let server_keys: [ServerKey]
    }

    private static func keys(of site: Site) async throws -> [Report.ServerKey] {
        let ended = try await site.administer(["key", "list", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8)).server_keys
    }

    private struct ListedClient: Decodable {
        let client_id: String
        let client_secret: String

        var headers: [String: String] {
            ["authorization": "Basic " + Data("\(client_id):\(client_secret)".utf8).base64EncodedString()]
        }
    }

    private static func signIn(_ request: ClientAuthorizationRequest, headers: [String: String] = [:]) async throws
        -> WebPage
    {
        var browser = UserAgent()
        let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
        return try await request.redeem(page.code, headers: headers)
    }

    /// Moves the time until which a key was the first one, as the server has noted it, by a number of seconds.
    private static func moveEnd(of fingerprint: String, at site: Site, by seconds: Int64) throws {
        let file = URL(fileURLWithPath: site.dataDirectory + "/last-settings.json")
        var settings = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
        let lines = try #require(settings["server-keys"]).split(separator: "\n").map { line in
            let parts = line.split(separator: " ")
            guard parts[0] == fingerprint, let time = Int64(parts[1]) else { return String(line) }
            return "\(fingerprint) \(time + seconds * 1_000_000)"
        }
        settings["server-keys"] = lines.joined(separator: "\n")
        try JSONEncoder().encode(settings).write(to: file)
    }

    private static func refresh(
        _ tokens: WebPage, of clientID: String, at site: Site, headers: [String: String] = [:]
    ) async throws -> WebPage {
        struct Tokens: Decodable {
            let refresh_token: String
        }
        let token = try JSONDecoder().decode(Tokens.self, from: Data(tokens.body.utf8)).refresh_token
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/token", headers: headers,
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }

    @Test func `the list counts what needs a former server key, and a server without it says who is signed out`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(
                options: ["--refresh-tokens", "always", "--rotate-refresh-tokens", "true"])
            let request = ClientAuthorizationRequest(site, clientID)
            let (kept, forgotten) = try await site.serving {
                (try await Self.signIn(request), try await Self.signIn(request))
            }
            #expect(try await Self.keys(of: site).map(\.state) == ["current"])

            let file = URL(fileURLWithPath: site.dataDirectory + "/server.key")
            let former = try Data(contentsOf: file)
            let new = Data(RandomBytes().bytes(32))
            try (former + new).write(to: file)
            #expect(try await Self.keys(of: site).map(\.state) == ["current", "next"])
            try (new + former).write(to: file)
            try await site.serving {
                let keys = try await Self.keys(of: site)
                #expect(keys.map(\.state) == ["current", "former"])
                #expect(keys.last?.count("signing-keys") == 3 && keys.last?.count("refresh-tokens") == 2)
                #expect(keys.last?.needs.allSatisfy { $0.until != nil } == true)
                #expect(try await Self.refresh(kept, of: clientID, at: site).status == 200)
                #expect(try await Self.keys(of: site).last?.count("refresh-tokens") == 1)
                let rotated = try await site.administer(["key", "rotate", "--withdraw"])
                #expect(rotated.status == 0, "\(rotated.errors)")
                #expect(try await Self.keys(of: site).last?.count("signing-keys") == nil)
            }

            // Nothing prevents the start now, but one family is lost.
            try new.write(to: file)
            let server = try await site.start(options: ["--log-format", "json"])
            try await server.whileRunning {
                let event = try #require(
                    try server.logEvents.first {
                        $0["message"] == "started without a former server key, so its refresh tokens are refused"
                    })
                #expect(event["needed_by"]?.hasPrefix("1 refresh token until ") == true)
                #expect(try await Self.keys(of: site).map(\.state) == ["current", "missing"])
                #expect(try await Self.refresh(forgotten, of: clientID, at: site).status == 400)
                let doctor = try await site.administer(["doctor"])
                #expect(doctor.output.contains("note   the former server key "))
            }
        }
    }

    // RFC 6749 §6: a client must replace its refresh token by that of the response.
    @Test func `the list names a former server key whose refresh token a client keeps`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let created = try await site.administer([
                "app", "create", "--type", "web", "--name", "Lightbox", "--scope", "openid", "--scope", "photos.read",
                "--redirect-uri", "http://127.0.0.1:49152/callback", "--refresh-tokens", "always", "--json",
            ])
            let client = try JSONDecoder().decode(ListedClient.self, from: Data(created.output.utf8))
            let request = ClientAuthorizationRequest(site, client.client_id)
            let tokens = try await site.serving { try await Self.signIn(request, headers: client.headers) }

            let file = URL(fileURLWithPath: site.dataDirectory + "/server.key")
            let former = try Data(contentsOf: file)
            try (Data(RandomBytes().bytes(32)) + former).write(to: file)
            try await site.serving {}
            // As if the key had been replaced an hour ago, and each token used since then.
            let fingerprint = try #require(try await Self.keys(of: site).last?.fingerprint)
            try Self.moveEnd(of: fingerprint, at: site, by: -3600)
            try await site.serving {
                _ = try await site.administer(["key", "rotate", "--withdraw"])
                #expect(try await Self.keys(of: site).last?.needs.map(\.kind) == ["forms"])
                for _ in 1...2 {
                    let page = try await Self.refresh(tokens, of: client.client_id, at: site, headers: client.headers)
                    #expect(page.status == 200)
                }
                let needs = try #require(try await Self.keys(of: site).last?.needs)
                #expect(needs.map(\.kind) == ["kept-refresh-tokens", "forms"])
                #expect(needs.first?.until != nil && needs.first?.last_used != nil)
            }
            // The use is noted for the time after a restart, too.
            try await site.serving {}
            let list = try await site.administer(["key", "list"])
            #expect(list.output.contains("needed by clients that ignore the refresh token of a response until "))
        }
    }
}
