@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// Users and clients with names of different frequency and length, as lists and searches meet them.
struct Records {
    private static let givenNames = [
        "Ada", "Amélie", "Björn", "Chiamaka", "Dimitrios", "Esperanza", "Friðrik", "Giovanni", "Hyun-woo", "Ingrid",
        "Jean-Baptiste", "Kamala", "Li", "Maximilian", "Nguyễn", "Olumide", "Priyanka", "Quentin", "Rukhsana", "Søren",
        "Tatiana", "Uwe", "Valentina", "Wojciech", "Xiadani", "Yusuf", "Zoë",
    ]
    private static let familyNames = [
        "Andersen", "Bauer", "Castellanos", "Dąbrowski", "Eriksen", "Fernández", "García", "Hansen", "Ibrahim",
        "Johannessen", "Kowalczyk", "Leutheusser-Schnarrenberger", "Müller", "Nakamura", "Okonkwo", "Papadopoulos",
        "Quispe", "Rodríguez", "Schmidt", "Thorvaldsen", "Ueda", "Venkataraman", "Williams", "Xu", "Yılmaz",
        "Zimmermann", "O’Connor", "Nic Fhlannagáin", "Ó Dónaill",
    ]
    private static let nouns = [
        "Photo Prints", "Calendar", "Warehouse Inventory", "Bookkeeping", "Donaudampfschifffahrt", "Expenses", "Maps",
        "Newsletter", "Field Service Management", "Timesheets", "Analytics", "Bike",
    ]

    /// The number of users of a commit.
    private static let block = 500

    private let store: any AuthorizationServerStore
    private let now = Date()

    init(_ store: any AuthorizationServerStore) { self.store = store }

    func add(users: Int, clients: Int) async throws {
        let blocks = (users + Self.block - 1) / Self.block
        try await Fill.each(0..<blocks) { number in
            try await add(users: number * Self.block..<min((number + 1) * Self.block, users))
        }
        try await Fill.each(0..<clients) { try await add(client: $0) }
    }

    /// Returns an item of a list, the first ones more often.
    private static func item(_ items: [String], _ number: Int) -> String {
        // A multiplication by an odd number mixes the bits; the product of two parts prefers small values.
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        let (one, other) = (Double(mixed >> 48) / 65536, Double(mixed >> 32 & 0xFFFF) / 65536)
        return items[Int(one * other * Double(items.count))]
    }

    private func add(users numbers: Range<Int>) async throws {
        let users = try numbers.map { ImportedUser(try user($0), keepsIdentifier: false) }
        let outcomes = try await store.importUsers(users) { _ in [] }
        guard outcomes.allSatisfy({ $0 == .added }) else { throw Failure("the users are there already") }
    }

    private func user(_ number: Int) throws -> User {
        let (given, family) = (Self.item(Self.givenNames, number), Self.item(Self.familyNames, number &* 31 &+ 7))
        let plain = "\(given).\(family)".lowercased().folding(options: .diacriticInsensitive, locale: nil)
            .filter { $0.isASCII && ($0.isLetter || $0 == ".") }
        let name = "\(plain.prefix(40)).\(number)"
        guard let username = Username(name) else { throw Failure("\(name) is no user name") }
        var user = User(
            id: UserIdentifier(), username: username, email: EmailAddress("\(name)@example.net"),
            displayName: "\(given) \(family)", passwordHash: Fill.passwordHash,
            createdAt: now.addingTimeInterval(-60 * Double(number % 500_000)))
        if number % 50 == 0 { user.disabledAt = now }
        return user
    }

    private func add(client number: Int) async throws {
        let client = RegisteredClient(
            id: ClientIdentifier(), type: .native,
            presentation: ClientPresentation(name: "\(Self.item(Self.nouns, number)) \(number)"),
            redirectURIs: [try RedirectURI("http://127.0.0.1/callback")], scope: try Scope(parsing: "openid profile"),
            policy: .standard(for: .native), approval: .approved,
            createdAt: now.addingTimeInterval(-3600 * Double(number % 5000)))
        let outcome = try await store.addClient(client, logo: nil, secret: nil, ownerLimit: .max, recording: [])
        guard outcome == .added else { throw Failure("a client was not added: \(outcome)") }
    }
}
