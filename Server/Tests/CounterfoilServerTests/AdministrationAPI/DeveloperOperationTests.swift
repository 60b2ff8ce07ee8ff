import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on the developers and the redirect URIs of clients.
struct DeveloperOperationTests {
    @Test func `a developer is added and removed once, with the events of both`() async throws {
        let desk = try await AdministrationDesk()
        let (token, bob) = (try await desk.token(), try await desk.test.addUser("bob"))
        let path = "/clients/\(desk.test.lightbox.id)/developers"
        for _ in 1...2 { #expect(try await desk.send(.put, path + "/\(bob.id)", as: token).status == .noContent) }
        let list = try await desk.send(.get, path, as: token)
        #expect(try list.items("username") == ["bob"] && list.items("sub") == [bob.id.rawValue])
        #expect(try await desk.send(.delete, path + "/\(bob.id)", as: token).status == .noContent)
        #expect(try await desk.send(.delete, path + "/\(bob.id)", as: token).status == .notFound)
        #expect(try await desk.send(.get, path, as: token).items("sub") == [])
        let events = try await desk.test.store.audit(AuditQuery(clientID: desk.test.lightbox.id)).map(\.event)
        let own = events.filter { $0.userID == bob.id }
        #expect(own.count == 2 && own.allSatisfy { $0.source == nil && $0.requestID == "request" })
        let others = events.filter { $0.userID == desk.test.alice.id }
        #expect(others.count == 2)
        #expect(others.allSatisfy { $0.detail?.hasPrefix("with the app \(desk.client.id): ") == true })

        _ = try await desk.test.store.disableUser(bob.id, at: desk.test.clock.now, recording: [])
        #expect(try await desk.send(.put, path + "/\(bob.id)", as: token).problem == "user-disabled")
    }

    // SEC-953
    @Test func `a developer of an app that can get a right is added with this right only`() async throws {
        let desk = try await AdministrationDesk()
        let bob = try await desk.test.addUser("bob")
        let path = "/clients/\(desk.client.id)/developers/\(bob.id)"
        for token in [
            try await desk.token("counterfoil.admin.clients:write"),
            try await desk.serviceToken("counterfoil.admin.clients:write"),
        ] {
            let reply = try await desk.send(.put, path, as: token)
            #expect(reply.status == .forbidden && reply.problem == "stronger-client")
        }
        #expect(try await desk.test.store.developers(of: desk.client.id).isEmpty)
        #expect(try await desk.send(.put, path, as: try await desk.token()).status == .noContent)
    }

    @Test func `an open question is listed, and withdrawn by its name`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let client = try await desk.test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/callback"], owner: desk.root.id)
        let name = try #require(Username("nobody"))
        let outcome = try await desk.test.store.changeDevelopers(
            of: client.id, .invite(name, nil), by: .user(desk.root.id), at: desk.test.clock.now, recording: [])
        #expect(outcome == .changed)
        let path = "/clients/\(client.id)/invitations"
        #expect(try await desk.send(.get, path, as: token).items("username") == ["nobody"])
        #expect(try await desk.send(.delete, path + "/somebody", as: token).status == .notFound)
        #expect(try await desk.send(.delete, path + "/nobody", as: token).status == .noContent)
        #expect(try await desk.send(.get, path, as: token).items("username") == [])
    }

    @Test func `a redirect URI is checked as in a request`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token("counterfoil.admin.clients:read")
        let path = "/clients/\(desk.client.id)/redirect-uri"
        func check(_ uri: String) async throws -> [String: Any] {
            try await desk.send(.get, path + "?redirect_uri=" + uri, as: token).members
        }
        let matching = try await check("http%3A%2F%2F127.0.0.1%3A51004%2Fcallback")
        #expect(matching["matches"] as? Bool == true)
        #expect(matching["registered"] as? String == "http://127.0.0.1/callback")
        let other = try await check("http%3A%2F%2F127.0.0.1%2Fcallbacks")
        #expect(other["matches"] as? Bool == false)
        #expect((other["reason"] as? String)?.isEmpty == false)
        #expect(other["nearest"] as? String == "http://127.0.0.1/callback")
        let without = try await desk.send(.get, path, as: token)
        #expect(without.status == .badRequest)
        #expect(try without.refusedParts == ["redirect_uri"])
    }
}
