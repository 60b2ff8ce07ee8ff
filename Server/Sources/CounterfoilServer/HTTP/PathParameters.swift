public import CounterfoilProtocol
public import CounterfoilStore

/// The values of the placeholders in the path of an endpoint.
public struct PathParameters: Sendable, Hashable {
    /// The value of `{client_id}`; nil if the path of the endpoint does not contain it.
    public var clientID: ClientIdentifier?
    /// The value of `{user_id}`; nil if the path of the endpoint does not contain it.
    public var userID: UserIdentifier?
    /// The value of `{logo}`; nil if the path of the endpoint does not contain it.
    public var logo: LogoIdentifier?
    /// The segments for the other placeholders by name, as they were sent.
    package var segments: [String: String] = [:]

    /// Creates parameters; all are nil for most endpoints.
    public init(clientID: ClientIdentifier? = nil, userID: UserIdentifier? = nil, logo: LogoIdentifier? = nil) {
        self.clientID = clientID
        self.userID = userID
        self.logo = logo
    }
}
