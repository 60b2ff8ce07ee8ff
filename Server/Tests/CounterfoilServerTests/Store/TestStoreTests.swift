import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// The store of tests, whose operations fail by their names.
struct TestStoreTests {
    /// The names that ``StoreOperation`` has.
    private static let source = "Sources/CounterfoilServerTesting/Store/StoreOperation.swift"

    /// The root of the package.
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    // A fault of an operation that does not exist would never occur.
    @Test func `every named operation is a method of the store protocols`() throws {
        let folder = Self.root.appending(path: "Sources/CounterfoilStore").path
        let protocols = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }.joined()
        let methods = Set(protocols.matches(of: /\n {4}func (\w+)\(/).map(\.output.1))
        let named = try String(contentsOf: Self.root.appending(path: Self.source), encoding: .utf8)
            .matches(of: /Self\("(\w+)"\)/).map(\.output.1)
        #expect(named.count > 40)
        #expect(named.filter { !methods.contains($0) } == [])
    }

    @Test func `an operation fails until the store recovers, and others do not`() async throws {
        let store = TestStore()
        store.fail(.scopes, with: .damaged("page 7 is not a page"))
        await #expect(throws: StoreFault.damaged("page 7 is not a page")) { try await store.scopes() }
        #expect(try await store.signingKeys().isEmpty)
        #expect(store.calls(of: .scopes) == 1)
        store.recover()
        #expect(try await store.scopes() == ScopeDefinition.standard.sorted { $0.token.rawValue < $1.token.rawValue })
    }

    @Test(arguments: [true, false])
    func `a commit whose answer is lost was carried out or not`(isCommitted: Bool) async throws {
        let store = TestStore()
        let user = try User.named("ada")
        store.lose(StoreOperation("addUser"), committing: isCommitted, times: 1)
        await #expect(throws: StoreFault.unconfirmed("the connection was lost during the commit")) {
            try await store.addUser(user)
        }
        #expect(try await store.user(user.id) == (isCommitted ? user : nil))
        #expect(try await store.addUser(user) == (isCommitted ? .usernameTaken : .added))
    }

    @Test func `a change before a commit reaches the database first`() async throws {
        let store = TestStore()
        let (first, second) = (try User.named("ada"), try User.named("ada"))
        store.before(StoreOperation("addUser")) { _ = try? await store.addUser(second) }
        #expect(try await store.addUser(first) == .usernameTaken)
        #expect(try await store.user(second.id) == second)
    }

    // A store uses the connection of an earlier one.
    @Test func `a store has nothing of the stores before it`() async throws {
        for _ in 1...20 {
            let store = TestStore()
            #expect(try await store.audit(AuditQuery()).isEmpty)
            #expect(try await store.scopes().count == ScopeDefinition.standard.count)
            #expect(try await store.users(after: nil, limit: 10).isEmpty)
            let world = try await World(in: store)
            _ = try await world.refreshFamily(of: world.grant())
            try await store.appendAudit(AuditEvent(at: World.now, .setting, detail: "a"))
            #expect(try await store.audit(AuditQuery()).map(\.number) == [1])
            #expect(try await store.addScope(ScopeDefinition(token: .profile, description: "")) == .exists)
            let photos = try #require(Scope.Token("photos.read"))
            #expect(try await store.addScope(ScopeDefinition(token: photos, description: "Photos")) == .added)
            #expect(try await world.beginRemoval() == .begun([]))
            _ = try await store.removeClient(world.client.id)
        }
    }

    @Test func `two stores share nothing`() async throws {
        let (one, other) = (TestStore(), TestStore())
        let user = try User.named("ada")
        #expect(try await one.addUser(user) == .added)
        #expect(try await other.user(user.id) == nil)
        #expect(try await other.addUser(user) == .added)
    }
}
