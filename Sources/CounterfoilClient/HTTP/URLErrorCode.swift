extension TransportFailure {
    /// Converts an error of URLSession, by its code in the domain `NSURLErrorDomain`.
    ///
    /// `NSURLErrorSecureConnectionFailed` does not mean that the certificate is not trusted: the connection may also
    /// have broken during the handshake, and a later retry may succeed.
    init(urlErrorCode code: Int, reason: String, origin: String) {
        switch code {
        case -999: self = .cancelled
        case -1001: self = .timedOut(origin: origin)
        // The certificate has expired, its root is not trusted, it has no known root, or it is not valid yet.
        case -1201, -1202, -1203, -1204: self = .untrusted(origin: origin, reason: reason)
        default: self = .unreachable(origin: origin, reason: reason)
        }
    }
}
