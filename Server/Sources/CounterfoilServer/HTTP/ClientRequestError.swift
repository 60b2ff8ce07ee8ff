import CounterfoilProtocol
import CounterfoilStore

/// An error of a request that names its client, so that the log names the client too, and the user if there is one.
///
/// The client may be unknown or not authenticated. The response is that to the error itself.
struct ClientRequestError: Error {
    let error: any Error
    let clientID: ClientIdentifier
    /// The user of the grant that the request presented; nil if it presented none.
    let userID: UserIdentifier?

    init(_ error: any Error, clientID: ClientIdentifier, userID: UserIdentifier? = nil) {
        let inner = error as? ClientRequestError
        self.error = inner?.error ?? error
        self.clientID = clientID
        self.userID = userID ?? inner?.userID
    }

    /// Runs the part of a request after the client is known; an error that it throws names the client.
    static func attributing<Result>(
        to clientID: ClientIdentifier, _ work: () async throws -> Result
    ) async throws -> Result {
        do { return try await work() } catch { throw ClientRequestError(error, clientID: clientID) }
    }
}
