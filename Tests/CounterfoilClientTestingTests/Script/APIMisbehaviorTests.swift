import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

/// Tests of misbehaviors of the API, and of tokens that are bound to keys.
@Suite(.timeLimit(.minutes(2)))
struct APIMisbehaviorTests {
    private func refusal(_ misbehavior: Misbehavior, signIn: [String: String] = [:]) async throws -> PlainClient.Reply {
        try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
            let client = PlainClient(server: server)
            return try await client.callAPI(try await client.signIn(signIn).text("access_token"))
        }
    }

    // RFC 6750 §3.1, RFC 9470 §3
    @Test func `the API demands more scope or a stronger sign-in`() async throws {
        let scope = try await refusal(.wantsMoreScope)
        #expect(scope.status == 403)
        #expect(
            scope.field("WWW-Authenticate")?.contains("error=\"insufficient_scope\", scope=\"photos.write\"") == true)
        #expect(try await refusal(.wantsMoreScope, signIn: ["scope": "photos.write"]).status == 200)
        let context = try await refusal(.wantsStrongerSignIn)
        #expect(context.status == 401)
        #expect(
            context.field("WWW-Authenticate")?.contains(
                "error=\"insufficient_user_authentication\", acr_values=\"urn:example:gold\", max_age=\"600\"") == true)
        #expect(try await refusal(.wantsStrongerSignIn, signIn: ["acr_values": "urn:example:gold"]).status == 200)
    }

    // RFC 9110 §11.6.1
    @Test func `challenges and redirects have every shape`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.manyChallenges)) { server in
            let answer = try await PlainClient(server: server).callAPI(nil)
            let fields = answer.headerFields.filter { $0.name.canonicalName == "www-authenticate" }.map(\.value)
            #expect(fields.count == 2)
            #expect(fields[0].contains("Negotiate") && fields[0].contains(server.url(of: .resourceMetadata)))
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.evilResourceMetadata)) { server in
            let answer = try await PlainClient(server: server).callAPI(nil)
            #expect(answer.field("WWW-Authenticate")?.contains("169.254.169.254") == true)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.brokenChallenge)) { server in
            let answer = try await PlainClient(server: server).callAPI(nil)
            #expect(answer.status == 401)
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.foreignResource)) { server in
            let metadata = try await PlainClient(server: server).get(server.url(of: .resourceMetadata))
            #expect(metadata.text("resource") == "https://login.example.com/api")
        }
        #expect(try await refusal(.redirectsAPI).field("Location") == "https://login.example.com/api")
        #expect(try await refusal(.losesAuthorization).status == 401)
        let nested = try await ScriptedAuthorizationServer.run(ServerScript(.nestedErrors)) { server in
            try await PlainClient(server: server).callAPI(nil)
        }
        #expect(nested.json?["error"]?["code"] == "HeaderNotFound")
    }

    // RFC 9449 §8 and §9
    @Test func `proofs are required with a nonce that changes each time`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            let client = PlainClient(server: server)
            let key = ScriptedProofKey()
            let url = server.url(of: .token)
            let code = try await client.callback().all("code")[0]
            #expect(try await client.redeem(code).text("error") == "invalid_dpop_proof")
            let first = try await client.redeem(code, fields: ["DPoP": try key.proof(method: "POST", url: url)])
            #expect(first.text("error") == "use_dpop_nonce")
            let nonce = try #require(first.field("DPoP-Nonce"))
            let proof = try key.proof(method: "POST", url: url, nonce: nonce)
            let tokens = try await client.redeem(code, fields: ["DPoP": proof])
            #expect(tokens.json?["token_type"] == "DPoP")
            #expect(tokens.field("DPoP-Nonce") != nonce)
            #expect(try await client.redeem(code, fields: ["DPoP": proof]).text("error") == "invalid_dpop_proof")

            let token = tokens.text("access_token") ?? ""
            #expect(try await client.callAPI(token).status == 401)
            let api = server.url(of: .api)
            let call = { (nonce: String?, key: ScriptedProofKey) in
                try await client.get(
                    api,
                    fields: [
                        "Authorization": "DPoP \(token)",
                        "DPoP": try key.proof(method: "GET", url: api, nonce: nonce, accessToken: token),
                    ])
            }
            let refused = try await call(nil, key)
            #expect(refused.field("WWW-Authenticate")?.hasPrefix("DPoP error=\"use_dpop_nonce\"") == true)
            let answered = try await call(refused.field("DPoP-Nonce"), key)
            #expect(answered.status == 200)
            #expect(try await call(answered.field("DPoP-Nonce"), ScriptedProofKey()).status == 401)
        }
    }

    // RFC 9449 §4.3
    @Test(arguments: ["htm", "htu", "iat", "jti"])
    func `a proof with any wrong claim is rejected`(claim: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            let key = ScriptedProofKey()
            for proof in [
                try key.proof(method: "POST", url: server.url(of: .token), omitting: [claim]),
                try key.proof(
                    method: "POST", url: server.url(of: .token), replacing: [WireMember(claim, claim == "jti" ? 1 : 0)]),
            ] {
                #expect(try await client.signIn(fields: ["DPoP": proof]).text("error") == "invalid_dpop_proof")
            }
            let proof = try key.proof(method: "POST", url: server.url(of: .token))
            #expect(try await client.signIn(fields: ["DPoP": proof]).json?["token_type"] == "DPoP")
        }
    }

    @Test func `proofs can be rejected or ignored`() async throws {
        for (misbehavior, member, value) in [
            (.refusesProofs, "error", "invalid_dpop_proof"), (.ignoresProofs, "token_type", "Bearer"),
        ] as [(Misbehavior, String, WireValue)] {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior)) { server in
                let proof = try ScriptedProofKey().proof(method: "POST", url: server.url(of: .token))
                let answer = try await PlainClient(server: server).signIn(fields: ["DPoP": proof])
                #expect(answer.json?[member] == value)
            }
        }
    }

    // RFC 8628 §3.5
    @Test func `a device is slowed down, sent to another data center and given verification_url`() async throws {
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        for (misbehavior, status, error) in [
            (.slowsDown, 400, "slow_down"), (.slowsDownWith429, 429, "slow_down"), (.otherDataCentre, 400, "other_dc"),
        ] as [(Misbehavior, Int, String)] {
            try await ScriptedAuthorizationServer.run(ServerScript(misbehavior), sibling: ServerScript()) {
                server, other in
                let client = PlainClient(server: server)
                let begun = try await client.post(server.url(of: .deviceAuthorization), ["client_id": "lightbox"])
                let form = ["device_code": begun.text("device_code") ?? ""]
                for _ in 0..<(misbehavior == .slowsDown ? 3 : 1) {
                    let answer = try await client.token(grant, form)
                    #expect(answer.status == status)
                    #expect(answer.text("error") == error)
                }
                let end = misbehavior == .otherDataCentre ? PlainClient(server: other) : client
                #expect(try await end.token(grant, form).status == 200)
            }
        }
        try await ScriptedAuthorizationServer.run(ServerScript(.verificationURL, .noInterval)) { server in
            let begun = try await PlainClient(server: server)
                .post(server.url(of: .deviceAuthorization), ["client_id": "lightbox"])
            #expect(begun.text("verification_url") == server.url(of: .verification))
            #expect(begun.json?["interval"] == nil)
        }
    }
}
