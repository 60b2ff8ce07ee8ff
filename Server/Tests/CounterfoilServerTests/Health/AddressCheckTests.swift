import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The question of an operator to `/livez`, from which address a request comes.
struct AddressCheckTests {
    private static let key = ServerKey(bytes: [UInt8](repeating: 7, count: 32))

    private static func answer(
        _ proof: String?, from source: String = "203.0.113.7", at test: TestServer
    ) async throws -> String {
        let name = try #require(HTTPField.Name(AddressCheck.field))
        let reply = await test.send(.get, to: .liveness, fields: proof.map { [name: $0] } ?? [:], source: source)
        #expect(reply.status == .ok)
        guard case .json(let json) = reply.content else { return "" }
        return String(decoding: json, as: UTF8.self)
    }

    @Test func `only a proof of the server key gets the address of a request, for a minute`() async throws {
        let key = try #require(Self.key)
        let test = try await TestServer(serverKey: key)
        let proof = AddressCheck(serverKey: key).proof(now: test.clock.now)
        #expect(
            try await Self.answer(proof, at: test) == #"{"counted":true,"source":"203.0.113.7","status":"alive"}"#)
        // The server counts no failures for a proxy on its machine.
        #expect(
            try await Self.answer(proof, from: "127.0.0.1", at: test)
                == #"{"counted":false,"source":"127.0.0.1","status":"alive"}"#)

        let alive = #"{"status":"alive"}"#
        #expect(try await Self.answer(nil, at: test) == alive)
        #expect(try await Self.answer("AAAA", at: test) == alive)
        let other = try #require(ServerKey(bytes: [UInt8](repeating: 8, count: 32)))
        #expect(try await Self.answer(AddressCheck(serverKey: other).proof(now: test.clock.now), at: test) == alive)
        test.clock.advance(by: 61)
        #expect(try await Self.answer(proof, at: test) == alive)
    }
}
