/// The limits of a request head, which are the same for HTTP/1.1 and HTTP/2.
enum HeadLimits {
    /// The maximum size of a field, in bytes.
    static let fieldSize = 64 * 1024
    /// The maximum size of all fields together, in bytes.
    static let listSize = 96 * 1024
    /// The maximum number of fields.
    static let fieldCount = 200
}
