import CounterfoilProtocol

extension Fill {
    /// The options on the command line.
    struct Options {
        static let usage = "usage: fill-store --database FILE --client-id ID --tokens N"

        let database: String
        let client: ClientIdentifier
        let tokens: Int

        init(_ arguments: ArraySlice<String>) throws {
            var values: [String: String] = [:]
            var rest = arguments
            while let name = rest.popFirst() {
                guard let value = rest.popFirst() else { throw Failure(Self.usage) }
                values[name] = value
            }
            guard values.count == 3, let database = values["--database"],
                let client = values["--client-id"].flatMap({ ClientIdentifier($0) }),
                let tokens = values["--tokens"].flatMap({ Int($0) }), (1...100_000_000).contains(tokens)
            else { throw Failure(Self.usage) }
            self.database = database
            self.client = client
            self.tokens = tokens
        }
    }
}
