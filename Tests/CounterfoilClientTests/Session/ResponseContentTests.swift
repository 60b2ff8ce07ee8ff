import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of the content of API responses.
@Suite(.timeLimit(.minutes(2)))
struct ResponseContentTests {
    private struct Album: Decodable, Equatable {
        let photos: [String]
    }

    /// Returns the response of an API, called by a signed-in user.
    private static func response(_ answer: ScriptedAnswer?) async throws -> TransportResponse {
        try await ScriptedAuthorizationServer.run { server in
            let session = TokenSession(for: try SignedIn.signIn(at: server), store: MemoryTokenStore())
            try await session.signedIn()
            if let answer { server.change { $0.interruptions = [Interruption(at: .api, answer)] } }
            return try await session.get(server.url(of: .api))
        }
    }

    @Test func `a successful response is decoded`() async throws {
        let response = try await Self.response(nil)
        #expect(try response.decode(Album.self) == Album(photos: []))
        #expect(try response.successful().text == "{\"photos\":[]}")
        #expect(throws: DecodingError.self) { try response.decode([String].self) }
    }

    // RFC 9457 §3.1
    @Test(arguments: [
        (
            "{\"type\":\"https://example.com/credit\",\"title\":\"No credit\",\"status\":403,\"detail\":\"30 of 50\\u001b[2J\"}",
            "the API responded with the status 403: No credit: 30 of 50[2J"
        ),
        (
            "{\"type\":7,\"title\":[\"x\"],\"status\":\"403\",\"detail\":\"30 of 50\"}",
            "the API responded with the status 403: 30 of 50"
        ),
        ("{\"title\":", "the API responded with the status 403"),
    ])
    func `any other status than 2xx is an error with the problem that the API describes`(
        body: String, description: String
    ) async throws {
        let fields = [ScriptedAnswer.Field("Content-Type", "application/problem+json; charset=utf-8")]
        let response = try await Self.response(ScriptedAnswer(status: 403, headerFields: fields, body: .text(body)))
        let error = try #require(throws: UnsuccessfulResponse.self) { try response.decode(Album.self) }
        #expect("\(error)" == description)
        #expect(error.response.text == body)
        #expect(throws: UnsuccessfulResponse.self) { try response.successful() }
    }

    @Test func `a body of another media type describes no problem`() async throws {
        let response = try await Self.response(.json("{\"title\":\"No credit\"}", status: 500))
        let error = try #require(throws: UnsuccessfulResponse.self) { try response.successful() }
        #expect(error.problem == nil)
        #expect("\(error)" == "the API responded with the status 500")
    }
}
