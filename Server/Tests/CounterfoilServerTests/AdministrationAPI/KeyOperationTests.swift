import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import Testing

/// The signing keys at the administration API.
struct KeyOperationTests {
    @Test func `a rotation that withdraws deletes every former key of the algorithms, also that of its token`()
        async throws
    {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let former = try await desk.send(.get, "/signing-keys", as: token).items("kid")
        let one = try await desk.send(
            .post, "/signing-keys/rotation", as: token, json: #"{"algorithm": "RS256", "withdraw": true}"#)
        #expect(one.status == .created)
        #expect(try one.items("state") == ["signing"])
        let left = try await desk.send(.get, "/signing-keys", as: token).items("kid")
        #expect(Set(left).intersection(former).count == former.count - 1)
        let all = try await desk.send(.post, "/signing-keys/rotation", as: token, json: #"{"withdraw": true}"#)
        #expect(all.status == .created)
        let kept = try await desk.test.store.signingKeys().map(\.id.rawValue)
        #expect(Set(kept) == Set(try all.items("kid")))
        #expect(Set(kept).isDisjoint(with: left))
    }
}
