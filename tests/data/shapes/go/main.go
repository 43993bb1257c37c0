package main

import "github.com/gin-gonic/gin"

func server() *gin.Engine {
	engine := gin.New()
	engine.GET("/", func(context *gin.Context) { context.JSON(200, gin.H{"answer": 42}) })
	return engine
}

func main() {
	if err := server().Run("127.0.0.1:8080"); err != nil {
		panic(err)
	}
}
