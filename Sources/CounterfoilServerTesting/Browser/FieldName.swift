package import HTTPTypes

extension HTTPField.Name {
    /// Returns the field name that a test spells.
    package static func named(_ name: String) throws -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { throw TestServer.Refused("\(name) is not a field name") }
        return name
    }
}
