public import CounterfoilServer
import Foundation
import GRDB

extension SQLiteStore: PeopleStore {
    /// The person of an identifier.
    public func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person? {
        try person("SELECT \(Person.columns) FROM people WHERE people.id = ?", id.rawValue)
    }

    /// The person of a user name.
    public func person(named username: Username) async throws(StoreFault) -> Person? {
        try person("SELECT \(Person.columns) FROM people WHERE people.username = ?", username.rawValue)
    }

    /// The person of an e-mail address.
    public func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person? {
        try person("SELECT \(Person.columns) FROM people WHERE people.email = ?", email.rawValue)
    }

    /// Whether any administrator exists.
    public func hasAdministrator() async throws(StoreFault) -> Bool {
        try read { database in
            try database.answers("SELECT EXISTS (SELECT 1 FROM people WHERE is_administrator = 1)") == [true]
        }
    }

    /// Adds a person, unless the name or the address is taken.
    public func addPerson(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try await commits.commit { database in try database.add(person, asFirstAdministrator: false) }
    }

    /// Adds a person as the first administrator, unless one exists.
    public func addFirstAdministrator(_ person: Person) async throws(StoreFault) -> AddPersonOutcome {
        try await commits.commit { database in try database.add(person, asFirstAdministrator: true) }
    }

    private func person(_ sql: String, _ key: String) throws(StoreFault) -> Person? {
        try read { database in try database.first(sql, key, read: Person.init(_:)) }
    }
}

extension Database {
    fileprivate func add(_ person: Person, asFirstAdministrator: Bool) throws -> AddPersonOutcome {
        let taken = try answers(
            """
            SELECT EXISTS (SELECT 1 FROM people WHERE is_administrator = 1),
                EXISTS (SELECT 1 FROM people WHERE username = ?),
                EXISTS (SELECT 1 FROM people WHERE email = ?)
            """,
            person.username.rawValue,
            person.email?.rawValue
        )
        if asFirstAdministrator, taken[0] { return .administratorExists }
        if taken[1] { return .usernameTaken }
        if taken[2] { return .emailTaken }
        try run(
            """
            INSERT INTO people
                (id, username, email, display_name, password_hash, is_administrator, created_at, disabled_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            person.id.rawValue,
            person.username.rawValue,
            person.email?.rawValue,
            person.displayName,
            person.passwordHash.exposed,
            person.isAdministrator || asFirstAdministrator,
            person.createdAt.microseconds,
            person.disabledAt?.microseconds
        )
        return .added
    }
}

extension Person {
    /// The columns with their table, so that a join can read them.
    static let columns = """
        people.id, people.username, people.email, people.display_name, people.password_hash, people.is_administrator,
        people.created_at, people.disabled_at
        """

    init(_ columns: inout Columns) throws {
        self.init(
            id: try columns.value(PersonIdentifier.init(_:)),
            username: try columns.value(Username.init(_:)),
            email: try columns.optionalValue(EmailAddress.init(_:)),
            displayName: try columns.text(),
            passwordHash: PasswordHash(encoded: try columns.text()),
            isAdministrator: try columns.flag(),
            createdAt: try columns.date(),
            disabledAt: try columns.optionalDate()
        )
    }
}
