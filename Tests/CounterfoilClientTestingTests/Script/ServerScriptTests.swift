import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import Testing

struct ServerScriptTests {
    @Test(arguments: Misbehavior.allCases)
    func `each misbehavior changes the script, and the script is data`(misbehavior: Misbehavior) throws {
        let script = ServerScript(misbehavior)
        // A server without misbehaviors already detects the reuse of refresh tokens.
        #expect(misbehavior == .rotatesStrictly || script != ServerScript())
        let written = try JSONEncoder().encode(script)
        #expect(try JSONDecoder().decode(ServerScript.self, from: written) == script)
    }

    @Test(arguments: Misbehavior.allCases.filter { $0 != .endlessTokens })
    func `no misbehavior is a fault of the server itself`(misbehavior: Misbehavior) async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior), sibling: ServerScript()) { server, _ in
            let client = PlainClient(server: server)
            let keys = try await client.get(server.url(of: .keys))
            #expect(keys.status == 200)
            let code = try await client.callback().all("code").first ?? ""
            for _ in 0..<2 {
                guard let tokens = try? await client.redeem(code) else { continue }
                #expect(tokens.status != 500)
                let refreshed = try? await client.refresh(tokens.text("refresh_token"))
                #expect(refreshed?.status != 500)
                #expect(try await client.callAPI(tokens.text("access_token")).status != 500)
            }
        }
    }

    @Test(arguments: ScriptedVendor.allCases)
    func `each vendor is data`(vendor: ScriptedVendor) throws {
        let script = ServerScript.vendor(vendor)
        #expect(script != ServerScript())
        let written = try JSONEncoder().encode(script)
        #expect(try JSONDecoder().decode(ServerScript.self, from: written) == script)
    }

    @Test func `several misbehaviors form one script`() {
        let script = ServerScript(.lowerCaseBearer, .omitsRefreshToken).with(.trailingSlashIssuer)
        #expect(script.tokens.tokenType == "bearer")
        #expect(script.refreshTokens.rotation == .never)
        #expect(script.issuer == "{origin}{path}/")
    }

    @Test(arguments: [
        ("{\"a\":[1,\"x\\n\",true,null,{\"b\":-2}]}", "{\"a\":[1,\"x\\u000a\",true,null,{\"b\":-2}]}"),
        ("{\"$raw\":\"1e30\"}", "1e30"), ("1.5", "1.5"),
    ])
    func `values are decoded and encoded`(text: String, written: String) throws {
        #expect(try JSONDecoder().decode(WireValue.self, from: Data(text.utf8)).written == written)
    }

    @Test func `members keep their order and may repeat`() {
        let value: WireValue = ["b": 1, "a": "x", "b": .raw("nonsense")]
        #expect(value.written == "{\"b\":1,\"a\":\"x\",\"b\":nonsense}")
        #expect(value["b"] == .raw("nonsense"))
    }
}
