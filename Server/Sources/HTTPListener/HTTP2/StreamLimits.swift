import NIOCore
import NIOHTTP2

/// The limits of an HTTP/2 connection.
///
/// A connection has many streams (RFC 9113 §5). These limits keep what it may use close to that of an HTTP/1.1
/// connection, which has one request at a time.
enum StreamLimits {
    /// The maximum number of streams that are open at once (RFC 9113 §5.1.2), and of requests that are not answered.
    ///
    /// A request whose stream the client has reset counts until its response is there.
    static let streams = 64
    /// The maximum number of requests of a connection that are answered at once; others wait for their turn.
    static let answers = 8
    /// The maximum size of all request heads of a connection that are not answered, in bytes.
    ///
    /// A few bytes on the wire can be a large head (RFC 7541 §6.1).
    static let headBytes = 2 * HeadLimits.listSize
    /// The maximum number of bodies of a connection whose first bytes do not count against `BodyBudget`.
    static let freeBodies = 8
    /// The maximum number of requests of a connection that wait at once for admission of their body.
    ///
    /// Meanwhile, the client can send up to two windows of the body, and `BodyBudget` does not count
    /// them.
    static let admissionChecks = 8
    /// The maximum number of bytes of responses that wait for the client; requests wait for their turn meanwhile.
    static let unsentBytes = 256 * 1024
    /// The time in which the events of the next two limits are counted.
    static let period = TimeAmount.seconds(30)
    /// The maximum number of streams that a client may reset in a period (CVE-2023-44487).
    static let resets = 100
    /// The maximum number of refused requests in a period, and of frames that are no part of a request, such as PING,
    /// SETTINGS and those of unknown types.
    static let controlFrames = 200
    /// The number of WINDOW_UPDATE frames that a client can send for each frame of a response before they count: one
    /// for the window of the stream, and one for that of the connection.
    static let windowUpdatesPerFrame = 2
    /// The time that a client has to take a response.
    static let responseTime = TimeAmount.seconds(30)
    /// The time after which a connection without streams is closed.
    static let idleTime = TimeAmount.seconds(30)

    /// The configuration of the HTTP/2 library.
    ///
    /// It closes a connection with an error after too many resets, stream errors, empty DATA frames in a row or
    /// CONTINUATION frames of one head. A request that is malformed (RFC 9113 §8.1.1) ends its stream only.
    ///
    /// The windows have the size of the protocol (64 KiB for a stream, and for the connection). The library opens the
    /// window of the connection as soon as bytes arrive, so it limits nothing. That of a stream limits what the client
    /// can send while its body is not read, which is only the case while it waits for admission.
    static var configuration: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: HeadLimits.listSize),
        ]
        configuration.connection.headerBlockValidation = .enabled
        configuration.connection.contentLengthValidation = .enabled
        configuration.connection.maximumSequentialEmptyDataFrames = 1
        configuration.connection.maximumSequentialContinuationFrames = 5
        // A body that is on its way when the server resets its stream is ignored for as many streams.
        configuration.connection.maximumRecentlyResetStreams = 2 * streams + resets
        // Replies to control frames that wait because the client does not read.
        configuration.connection.maximumBufferedControlFrames = 2 * controlFrames
        // Errors of streams in the whole time of the connection.
        configuration.connection.maximumConnectionGlitches = controlFrames
        // Most responses fit, so that a stream is writable until its end.
        configuration.stream.outboundBufferSizeHighWatermark = 64 * 1024
        configuration.stream.outboundBufferSizeLowWatermark = 32 * 1024
        configuration.stream.streamResetFrameRateLimit.maximumCount = resets
        configuration.stream.streamResetFrameRateLimit.windowLength = period
        configuration.stream.streamErrorRateLimit.maximumCount = resets
        configuration.stream.streamErrorRateLimit.windowLength = period
        return configuration
    }
}
