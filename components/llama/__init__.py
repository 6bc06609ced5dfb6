"""llama.cpp, as the embedder and the reranker use it: files of weights, a loaded model, its batches."""
