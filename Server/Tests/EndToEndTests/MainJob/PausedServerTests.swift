import CounterfoilProtocol
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// One of two servers on a database, which is stopped for some time, as by the pause of a virtual machine.
@Suite(.timeLimit(.minutes(10)))
struct PausedServerTests {
    private struct Tokens: Decodable {
        let refresh_token: String
    }

    private static func token(in page: WebPage) throws -> String {
        #expect(page.status == 200, "\(page.body)")
        return try JSONDecoder().decode(Tokens.self, from: Data(page.body.utf8)).refresh_token
    }

    private static func form(_ token: String, _ clientID: String) -> FormParameters {
        FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token])
    }

    private static func refresh(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(.post, "\(site.origin)/oauth2/token", form: form(token, clientID))
    }

    /// The text of a token request with HTTP/1.1.
    private static func text(_ form: FormParameters, to site: Site) -> String {
        """
        POST /oauth2/token HTTP/1.1\r
        Host: \(site.issuer.dropFirst("http://".count))\r
        Content-Type: application/x-www-form-urlencoded\r
        Content-Length: \(form.encoded.utf8.count)\r
        \r
        \(form.encoded)
        """
    }

    // The client has repeated the request at the other server, and continued with the result.
    @Test func `a refresh that waited in a stopped server gets 503, and signs no user out`() async throws {
        let store = try await StoreOfSite.store(in: PostgreSQLServer.shared.value)
        try await Site.make(on: store) { first in
            try await Site.make(on: store) { second in
                try await first.add(.alice)
                try await first.addScope("photos.read", "See your photos and albums")
                let clientID = try await first.registerClient(
                    options: ["--refresh-tokens", "always", "--refresh-grace-period", "1"])
                // Behind a load balancer, both servers have one issuer.
                let other = try await second.start(issuer: first.issuer)
                try await other.whileRunning {
                    try await first.serving {
                        let request = ClientAuthorizationRequest(first, clientID)
                        var browser = UserAgent()
                        let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                        let old = try Self.token(in: try await request.redeem(try page.code))

                        let process = try ServerProcess(of: second)
                        let (answer, latest) = try await RawConnection.run(port: second.port) { connection in
                            try await connection.send(
                                "GET /livez HTTP/1.1\r\nHost: \(first.issuer.dropFirst("http://".count))\r\n\r\n")
                            #expect(try await connection.take(until: "alive").contains("200 OK"))
                            try await process.pause()
                            defer { process.resume() }
                            let paused = ContinuousClock.now
                            try await connection.send(Self.text(Self.form(old, clientID), to: first))
                            let next = try Self.token(in: try await Self.refresh(old, of: clientID, at: first))
                            let latest = try Self.token(in: try await Self.refresh(next, of: clientID, at: first))
                            _ = try await Waiting.until("a pause that is longer than the grace period") {
                                ContinuousClock.now - paused > .seconds(4) ? true : nil
                            }
                            process.resume()
                            return (try await connection.everything(), latest)
                        }
                        #expect(RawConnection.status(of: answer) == 503, "\(answer)")
                        #expect(answer.lowercased().contains("connection: close"))
                        #expect(answer.lowercased().contains("retry-after: 2"))
                        try await Waiting.until("the warning") {
                            other.errors.contains("the process was paused") ? () : nil
                        }
                        let newest = try Self.token(in: try await Self.refresh(latest, of: clientID, at: first))
                        // Soon afterwards it answers again.
                        _ = try await Waiting.until("a refresh at the server that was stopped") {
                            let page = try await Self.refresh(newest, of: clientID, at: second)
                            #expect([200, 503].contains(page.status), "\(page.body)")
                            return page.status == 200 ? true : nil
                        }
                    }
                }
            }
        }
    }
}
