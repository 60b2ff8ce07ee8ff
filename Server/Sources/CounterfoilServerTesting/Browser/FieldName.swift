package import HTTPTypes

extension HTTPField.Name {
    /// Returns the name of a header field; throws if it is not valid.
    package static func named(_ name: String) throws -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { throw TestServer.Refused("\(name) is not a field name") }
        return name
    }
}
