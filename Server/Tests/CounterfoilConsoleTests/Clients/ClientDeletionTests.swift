import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Deleting an app, and what a form for it does afterwards.
struct ClientDeletionTests {
    @Test(arguments: [true, false])
    func `a form that is sent again after the deletion of its app leads to the list`(isBusy: Bool) async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let page = try await developer.browser.open("/apps/new?type=native").clientFormPage
        let form = Developer.form().adding("ticket", page.ticket)
        let registered = try await developer.browser.submit(form, to: page.action).clientPage
        let id = try #require(ClientIdentifier(registered.client.clientID))
        if isBusy {
            let client = try #require(try await test.store.client(id))
            let world = World(test.store, user: test.alice, client: client, session: .lasting(of: test.alice))
            _ = try await test.store.beginSession(
                world.session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
            for _ in 0...ClientRemoval.rowsAtOnce { try await world.approve(world.grant(client.scope)) }
        }
        #expect(try await test.store.removeClient(id))
        let again = try await developer.browser.send(.post, to: page.action, form: form)
        #expect(again.status == .seeOther && again.location == "/apps")
    }

    @Test func `an app that this version cannot read is deleted`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        var stranger = try await Developer("eve", of: test)
        let unknown = StoreFault.unsupported(UnsupportedValue(record: "client", column: "type", text: "agent"))
        store.fail(.client, with: unknown)
        let path = "/apps/\(client.id)/delete"
        #expect(try await stranger.browser.send(.get, to: path).status == .notFound)
        let page = try #require(try await developer.browser.open(path).page as? DeleteClientPage)
        let form = FormParameters(["ticket": page.ticket])
        #expect(try await stranger.browser.send(.post, to: page.action, form: form).status == .notFound)
        let deleted = try await developer.browser.send(.post, to: page.action, form: form)
        #expect(deleted.status == .seeOther && deleted.location?.hasPrefix("/apps?") == true)
        store.recover()
        #expect(try await store.client(client.id) == nil)
    }
}
