import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@Suite struct BoundTokenMiddlewareTests {
    private typealias Context = BasicVerifiedAccessRequestContext

    private func answer(
        of application: some ApplicationProtocol, _ request: HTTPRequest
    ) async throws -> TestResponse {
        try await application.test(.router) { client in
            try await client.executeRequest(
                uri: request.path ?? "/", method: request.method, headers: request.headerFields, body: nil)
        }
    }

    // RFC 9449 §7 and §9.
    @Test func `every response to a request with a proof has one nonce`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(nonces: .required()))
            let router = Router(context: Context.self)
            let photos = router.group("photos").requireScope(try Scope(parsing: "photos.read"), of: server)
            photos.get { _, context in try context.requireAccess().keyThumbprint?.rawValue ?? "none" }
            photos.get("secret") { _, _ -> String in throw AccessRefusal.forbidden("this photo belongs to another user")
            }
            photos.requireScope(try Scope(parsing: "photos.write"), of: server).get("write") { _, _ in "written" }
            let application = Application(router: router)

            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let demanded = try await answer(of: application, prover.request(token))
            #expect(demanded.status == .unauthorized)
            #expect(demanded.headers[.wwwAuthenticate]?.contains(#"error="use_dpop_nonce""#) == true)
            #expect(demanded.headers.proofNonces.count == 1)
            let nonce = demanded.headers.proofNonces.first

            let request = try prover.request(token, nonce: nonce)
            let accepted = try await answer(of: application, request)
            #expect(String(buffer: accepted.body) == (try prover.thumbprint.rawValue))
            #expect(accepted.headers.proofNonces.count == 1)
            #expect(accepted.headers[.accessControlExposeHeaders] == "DPoP-Nonce")
            let replayed = try await answer(of: application, request)
            #expect(replayed.status == .unauthorized)
            #expect(replayed.headers.proofNonces.count == 1)

            for (path, status) in [("/photos/secret", HTTPResponse.Status.forbidden), ("/photos/write", .forbidden)] {
                let proof = try prover.proof(for: token, url: "https://photos.example" + path, nonce: nonce)
                let refused = try await answer(of: application, .get(path, dpop: token, proofs: [proof]))
                #expect(refused.status == status)
                #expect(refused.headers.proofNonces.count == 1)
            }
            let bearer = try await answer(of: application, .get(authorization: "Bearer \(authority.token())"))
            #expect(bearer.status == .ok)
            #expect(bearer.headers.proofNonces.isEmpty)
        }
    }

    /// An error that is not a type of Hummingbird.
    private struct Gone: HTTPResponseError {
        let status = HTTPResponse.Status.gone
        func response(from request: Request, context: some RequestContext) throws -> Response {
            Response(status: status, headers: [.contentLanguage: "en"])
        }
    }

    // RFC 9449 §8.2.
    @Test func `the response of an error that a handler throws has one nonce`() async throws {
        try await Authority.run { authority async throws in
            let server = authority.resourceServer(proofs: ProofPolicy(nonces: .offered()))
            let router = Router(context: Context.self)
            let photos = router.group("photos").requireScope(Scope(), of: server).requireScope(Scope(), of: server)
            photos.get("missing") { _, _ -> String in
                throw HTTPError(.notFound, headers: [.contentLanguage: "en"], message: "no such photo")
            }
            photos.get("gone") { _, _ -> String in throw Gone() }
            let application = Application(router: router)
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            for (path, status) in [("/photos/missing", HTTPResponse.Status.notFound), ("/photos/gone", .gone)] {
                let proof = try prover.proof(for: token, url: "https://photos.example" + path)
                let response = try await answer(of: application, .get(path, dpop: token, proofs: [proof]))
                #expect(response.status == status)
                #expect(response.headers.proofNonces.count == 1, "\(path)")
                #expect(response.headers[values: .accessControlExposeHeaders] == ["DPoP-Nonce"])
                // The rest of the response is that of the error.
                #expect(response.headers[.contentLanguage] == "en")
                let bearer = try await answer(
                    of: application, .get(path, authorization: "Bearer \(authority.token())"))
                #expect(bearer.status == status)
                #expect(bearer.headers.proofNonces.isEmpty)
            }
        }
    }

    // A proof counts once, and nested groups of one API verify it once.
    @Test func `nested groups use a proof once, and a stricter group verifies it itself`() async throws {
        try await Authority.run { authority async throws in
            let bound = authority.resourceServer(proofs: ProofPolicy(requiresBoundTokens: true))
            let router = Router(context: Context.self)
            let photos = router.group("photos").requireScope(Scope(), of: authority.resourceServer())
            photos.get { _, _ in "outside" }
            photos.group("inner").requireScope(Scope(), of: bound).requireScope(Scope(), of: bound)
                .get { _, _ in "inside" }
            let application = Application(router: router)
            let prover = try Prover()
            let token = try authority.token(boundTo: prover)
            let proof = try prover.proof(for: token, url: "https://photos.example/photos/inner")
            let inside = try await answer(of: application, .get("/photos/inner", dpop: token, proofs: [proof]))
            #expect(String(buffer: inside.body) == "inside")
            let bearer = "Bearer \(try authority.token())"
            #expect(try await answer(of: application, .get(authorization: bearer)).status == .ok)
            #expect(
                try await answer(of: application, .get("/photos/inner", authorization: bearer)).status == .unauthorized)
        }
    }
}
