import CounterfoilServer
import Testing

@Suite("The contract: people")
struct PeopleContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a person is found by identifier, name and address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let person = try Person.named("Ada", email: "Ada@Example.com")
            #expect(try await store.addPerson(person) == .added)
            #expect(try await store.person(person.id) == person)
            #expect(try await store.person(named: try #require(Username("ADA"))) == person)
            #expect(try await store.person(withEmail: try #require(EmailAddress("ADA@example.COM"))) == person)
            #expect(try await store.person(person.id)?.passwordHash == person.passwordHash)
            #expect(try await store.person(PersonIdentifier()) == nil)
            #expect(try await store.person(named: try #require(Username("eve"))) == nil)
            #expect(try await store.person(withEmail: try #require(EmailAddress("eve@example.com"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `names and addresses collide whatever their case`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addPerson(.named("ADA")) == .usernameTaken)
            #expect(try await store.addPerson(.named("bob", email: "ADA@EXAMPLE.COM")) == .emailTaken)
            #expect(try await store.person(named: try #require(Username("bob"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `any number of people have no address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada")) == .added)
            #expect(try await store.addPerson(.named("bob")) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred who want to be the first administrator one is`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("somebody")) == .added)
            #expect(try await !store.hasAdministrator())
            let counts = try await outcomes(of: 100) { number in
                try await store.addFirstAdministrator(.named("admin\(number)"))
            }
            #expect(counts == [.added: 1, .administratorExists: 99])
            #expect(try await store.hasAdministrator())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the first administrator is one, and needs a free name`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addFirstAdministrator(.named("ada")) == .usernameTaken)
            #expect(try await store.addFirstAdministrator(.named("bob", email: "ada@example.com")) == .emailTaken)
            #expect(try await !store.hasAdministrator())
            let administrator = try Person.named("carol")
            #expect(try await store.addFirstAdministrator(administrator) == .added)
            #expect(try await store.person(administrator.id)?.isAdministrator == true)
            #expect(try await store.addFirstAdministrator(.named("dave")) == .administratorExists)
        }
    }
}
