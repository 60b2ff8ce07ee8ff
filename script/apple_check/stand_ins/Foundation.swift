// The parts of Foundation that Linux does not have, or has in another form; the rest is FoundationEssentials.
// The declarations follow Apple's documentation. Core Foundation's types are aliases of the Swift types to which they
// are bridged, because Swift for Linux has no bridging. A cast between them is therefore not checked.

@_exported import Darwin
@_exported import FoundationEssentials

// MARK: - Core Foundation

public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias OSStatus = Int32

public class CFError: Error, @unchecked Sendable {}

// MARK: - Objects

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable {
    public init() {}
    public static func == (first: NSObject, second: NSObject) -> Bool { first === second }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

public let NSLocalizedDescriptionKey: String = "NSLocalizedDescription"
public let NSLocalizedFailureReasonErrorKey: String = "NSLocalizedFailureReason"
public let NSUnderlyingErrorKey: String = "NSUnderlyingError"

extension Error {
    public var localizedDescription: String { "" }
}

public func NSHomeDirectory() -> String { "" }

public final class Thread: NSObject {
    public static func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
    public static func sleep(forTimeInterval interval: TimeInterval) {}
}

open class OperationQueue: NSObject, @unchecked Sendable {}

// MARK: - URL loading

public final class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration() }
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies: Bool = true
    public var urlCache: URLCache?
    public var urlCredentialStorage: URLCredentialStorage?
    public var timeoutIntervalForRequest: TimeInterval = 60
    public var timeoutIntervalForResource: TimeInterval = 604_800
    public var waitsForConnectivity: Bool = false
}

public final class HTTPCookieStorage: NSObject, @unchecked Sendable {}
public final class URLCache: NSObject, @unchecked Sendable {}
public final class URLCredentialStorage: NSObject, @unchecked Sendable {}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

// The requirements are optional, which Swift for Linux does not have.
extension URLSessionDelegate {
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}

extension URLSessionTaskDelegate {
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { request }
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

extension URLSessionDataDelegate {
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition { .allow }
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

open class URLSessionTask: NSObject, @unchecked Sendable {
    public var taskIdentifier: Int { 0 }
    open var response: URLResponse? { nil }
    open func resume() {}
    open func suspend() {}
    open func cancel() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

open class URLSession: NSObject, @unchecked Sendable {
    public enum ResponseDisposition: Int, Sendable {
        case cancel = 0
        case allow = 1
        case becomeDownload = 2
        case becomeStream = 3
    }

    public class var shared: URLSession { URLSession(configuration: .default) }

    public init(configuration: URLSessionConfiguration) {}
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {}

    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask() }

    @available(macOS 12.0, iOS 15.0, *)
    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8
        public var task: URLSessionDataTask { URLSessionDataTask() }

        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> UInt8? { nil }
        }

        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    @available(macOS 12.0, iOS 15.0, *)
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) { throw URLError(.unknown) }

    @available(macOS 12.0, iOS 15.0, *)
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { throw URLError(.unknown) }
}

open class Stream: NSObject {
    @available(macOS 10.10, iOS 8.0, *)
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
    open func open() {}
    open func close() {}
}

open class InputStream: Stream {}

open class OutputStream: Stream {
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { 0 }
}

public struct URLRequest: Hashable, @unchecked Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
    }

    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60
    ) {}
    public var url: URL?
    public var httpMethod: String?
    public var httpBody: Data?
    public var httpBodyStream: InputStream?
    public var httpShouldHandleCookies: Bool = true
    public var timeoutInterval: TimeInterval = 60
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { nil }
    open var expectedContentLength: Int64 { -1 }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
}

public let NSURLErrorFailingURLErrorKey: String = "NSErrorFailingURLKey"

public struct URLError: Error, Hashable, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let unknown = Code(rawValue: -1)
        public static let cancelled = Code(rawValue: -999)
        public static let badURL = Code(rawValue: -1000)
        public static let timedOut = Code(rawValue: -1001)
        public static let unsupportedURL = Code(rawValue: -1002)
        public static let cannotFindHost = Code(rawValue: -1003)
        public static let cannotConnectToHost = Code(rawValue: -1004)
        public static let networkConnectionLost = Code(rawValue: -1005)
        public static let dnsLookupFailed = Code(rawValue: -1006)
        public static let notConnectedToInternet = Code(rawValue: -1009)
        public static let badServerResponse = Code(rawValue: -1011)
        public static let userCancelledAuthentication = Code(rawValue: -1012)
        public static let dataLengthExceedsMaximum = Code(rawValue: -1103)
        public static let secureConnectionFailed = Code(rawValue: -1200)
        public static let serverCertificateHasBadDate = Code(rawValue: -1201)
        public static let serverCertificateUntrusted = Code(rawValue: -1202)
        public static let serverCertificateHasUnknownRoot = Code(rawValue: -1203)
        public static let serverCertificateNotYetValid = Code(rawValue: -1204)
        public static let clientCertificateRejected = Code(rawValue: -1205)
        public static let clientCertificateRequired = Code(rawValue: -1206)
        public static let appTransportSecurityRequiresSecureConnection = Code(rawValue: -1022)
    }

    public let code: Code
    public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
    public var errorUserInfo: [String: Any] { [:] }
    public var localizedDescription: String { "" }
    public static func == (first: URLError, second: URLError) -> Bool { first.code == second.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

// MARK: - Processes

#if os(macOS)
    public final class Process: NSObject, @unchecked Sendable {
        public override init() {}
        public var executableURL: URL?
        public var arguments: [String]?
        public var environment: [String: String]?
        public var standardInput: Any?
        public var standardOutput: Any?
        public var standardError: Any?
        public var terminationHandler: (@Sendable (Process) -> Void)?
        public var terminationStatus: Int32 { 0 }
        public var isRunning: Bool { false }
        public func run() throws {}
        public func terminate() {}
        public func waitUntilExit() {}
    }
#endif

public final class FileHandle: NSObject, @unchecked Sendable {
    public class var nullDevice: FileHandle { FileHandle() }
    public class var standardInput: FileHandle { FileHandle() }
    public class var standardOutput: FileHandle { FileHandle() }
    public class var standardError: FileHandle { FileHandle() }
    public var fileDescriptor: Int32 { -1 }
    public func write<T: DataProtocol>(contentsOf data: T) throws {}
    public func readToEnd() throws -> Data? { nil }
    public func read(upToCount count: Int) throws -> Data? { nil }
}

// MARK: - Errors

public protocol CustomNSError: Error {
    static var errorDomain: String { get }
    var errorCode: Int { get }
    var errorUserInfo: [String: Any] { get }
}

public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}

// MARK: - Texts and places

public struct CharacterSet: Hashable, Sendable {
    public static var whitespaces: CharacterSet { CharacterSet() }
    public static var whitespacesAndNewlines: CharacterSet { CharacterSet() }
}

extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
}

extension URL {
    @available(macOS 13.0, iOS 16.0, *)
    public static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") }
}

open class Bundle: NSObject, @unchecked Sendable {
    public class var main: Bundle { Bundle() }
    open var bundleIdentifier: String? { nil }
    open var bundleURL: URL { URL(fileURLWithPath: "/") }
    open var executablePath: String? { nil }
}
