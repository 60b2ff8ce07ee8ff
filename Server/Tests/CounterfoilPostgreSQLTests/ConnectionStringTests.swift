import CounterfoilPostgreSQL
import Testing

@Suite("PostgreSQL: connection strings")
struct ConnectionStringTests {
    @Test(arguments: [
        ("postgresql://me:s3cret@db.example.com/x", "password"), ("postgres://me:s3cret@/x", "password"),
        ("postgresql://db.example.com/x?user=me&password=s3cret", "password"),
        ("postgresql://db.example.com/x?sslpassword=s3cret", "sslpassword"),
    ])
    func `a password in the string is refused with what to do, and never shown`(text: String, option: String) throws {
        let refusal = #expect(throws: OpeningRefusal.passwordInString(option: option)) { try ConnectionString(text) }
        let description = "\(try #require(refusal))"
        #expect(!description.contains("s3cret"))
        for place in ["passfile", "service", "PGPASSWORD"] { #expect(description.contains(place)) }
    }

    @Test func `a string that is no URI of PostgreSQL is refused without being shown`() throws {
        let refusal = #expect(throws: OpeningRefusal.invalidString) { try ConnectionString("postgresql://me:s3cret/x") }
        #expect(!"\(try #require(refusal))".contains("s3cret"))
    }
}
