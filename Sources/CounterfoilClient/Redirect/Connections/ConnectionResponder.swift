/// The part of a receiver that reads requests and selects the responses, one for each connection.
protocol ConnectionResponder: Sendable {
    /// The maximum lifetime of a connection, in which the request must arrive.
    var timeLimit: Duration { get }

    /// Returns the response to a request; nil if the request is not complete.
    ///
    /// - Parameters:
    ///   - received: All bytes that the connection has received.
    ///   - known: The number of bytes that an earlier call has found incomplete.
    ///   - descriptor: The socket of the connection.
    func response(to received: [UInt8], known: Int, on descriptor: Int32) -> ConnectionResponse?

    /// The response to connections without a complete request when the receiver stops waiting.
    var responseAtEnd: ConnectionResponse { get }
}

/// The response of a receiver to a connection.
struct ConnectionResponse: Sendable {
    /// The bytes of the response; if there are none, the connection is closed.
    var bytes: [UInt8]
    /// The function that is called once, after the response was sent or the connection was closed before.
    var afterwards: @Sendable () -> Void = {}

    /// The response that closes the connection.
    static let close = ConnectionResponse(bytes: [])
}
